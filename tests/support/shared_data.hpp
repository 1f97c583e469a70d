#pragma once

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

namespace seqtrain::tests {

/// Returns the folder of real data that some tests use in addition to their golden samples:
/// SEQTRAIN_SHARED_DATA, or `shared/data` in the clone. If it is missing these tests are skipped.
inline std::filesystem::path shared_data() {
  if (const char* named = std::getenv("SEQTRAIN_SHARED_DATA")) return named;
  return std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../../shared/data";
}

/// Returns the folder of the committed files that tests compare with.
inline std::filesystem::path golden() {
  return std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden";
}

/// Returns the directory of the golden files of tensors.
inline std::filesystem::path golden_weights() {
  return golden() / "weights";
}

}  // namespace seqtrain::tests

/// Skips a test if `relative` is not in the shared data.
#define SEQTRAIN_NEEDS_SHARED_DATA(relative)                               \
  if (!std::filesystem::exists(seqtrain::tests::shared_data() / relative)) \
  GTEST_SKIP() << relative << " is not here"
