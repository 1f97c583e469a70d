#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/core/src/crc32c.hpp>
#include <seqtrain/core/src/error.hpp>
#include <seqtrain/core/src/json.hpp>
