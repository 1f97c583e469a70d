#pragma once

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

namespace seqtrain::tests {

/// The folder of real data that some tests use beside their golden samples: SEQTRAIN_SHARED_DATA,
/// or `shared/data` beside the checkout. It may be absent; then those tests skip.
inline std::filesystem::path shared_data() {
  if (const char* named = std::getenv("SEQTRAIN_SHARED_DATA")) return named;
  return std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../../shared/data";
}

/// The committed files that tests compare with.
inline std::filesystem::path golden() {
  return std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden";
}

/// Returns the directory of the golden files of tensors.
inline std::filesystem::path golden_weights() {
  return golden() / "weights";
}

}  // namespace seqtrain::tests

/// Skips a test where `relative` is not in the shared data.
#define SEQTRAIN_NEEDS_SHARED_DATA(relative)                               \
  if (!std::filesystem::exists(seqtrain::tests::shared_data() / relative)) \
  GTEST_SKIP() << relative << " is not here"
