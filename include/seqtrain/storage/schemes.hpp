#pragma once

#include <vector>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/storage/scheme.hpp>

namespace seqtrain::storage {

/// Returns the schemes that every program knows, besides local paths. Unless it is compiled
/// separately, this header includes Beast and TLS, which take long to compile.
[[nodiscard]] SEQTRAIN_SEPARATE const std::vector<Scheme>& known_schemes();

}  // namespace seqtrain::storage

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/storage/src/schemes.hpp>
#endif
