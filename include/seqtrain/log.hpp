#pragma once

#include <seqtrain/log/bar.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/log/log.hpp>
