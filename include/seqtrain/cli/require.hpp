#pragma once

#include <string>

#include <seqtrain/core/error.hpp>

namespace seqtrain::cli {

/// Throws an `InputError` that names the flag unless `good` is true.
inline void require(bool good, const std::string& flag, const std::string& problem) {
  if (!good) throw InputError{problem, {.object = "--" + flag}};
}

}  // namespace seqtrain::cli
