#pragma once

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace seqtrain::tests {

/// Expects `made` to equal the committed file `golden`. If SEQTRAIN_UPDATE_GOLDEN is set, `made`
/// replaces it, for a change of format that a script in tests/golden/ then checks.
inline void expect_same_file(const std::filesystem::path& made,
                             const std::filesystem::path& golden) {
  if (std::getenv("SEQTRAIN_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(golden.parent_path());
    std::filesystem::copy_file(made, golden, std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_TRUE(read_file(made) == read_file(golden)) << golden;
}

}  // namespace seqtrain::tests
