#pragma once

#include <seqtrain/hub/cache.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/fetch.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/open.hpp>
#include <seqtrain/hub/settings.hpp>
