#pragma once

#include <seqtrain/storage/find_adapters.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/place.hpp>
