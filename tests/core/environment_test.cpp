#include "support/environment.hpp"

#include <gtest/gtest.h>
#include <support/environment.hpp>

#include <seqtrain/core/environment.hpp>

namespace seqtrain {
namespace {

TEST(ProcessEnvironment, AnEmptyVariableCountsAsNotSet) {
  const tests::Environment set{"SEQTRAIN_TEST_SET", "value"};
  const tests::Environment empty{"SEQTRAIN_TEST_EMPTY", ""};
  const tests::Environment absent{"SEQTRAIN_TEST_ABSENT", {}};
  EXPECT_EQ(process_environment("SEQTRAIN_TEST_SET"), "value");
  EXPECT_EQ(process_environment("SEQTRAIN_TEST_EMPTY"), std::nullopt);
  EXPECT_EQ(process_environment("SEQTRAIN_TEST_ABSENT"), std::nullopt);
}

using tests::Environment;

TEST(CacheDirectory, IsInXdgCacheHome) {
  const Environment home{"HOME", "/home/somebody"};
  const Environment cache{"XDG_CACHE_HOME", "/cache"};
  EXPECT_EQ(cache_directory(), "/cache/seqtrain");
}

TEST(CacheDirectory, IsBelowTheHomeDirectoryOtherwise) {
  const Environment home{"HOME", "/home/somebody"};
  for (const auto& value : {std::optional<std::string>{}, std::optional<std::string>{""}}) {
    const Environment cache{"XDG_CACHE_HOME", value};
    EXPECT_EQ(cache_directory(), "/home/somebody/.cache/seqtrain");
  }
}

TEST(CacheDirectory, IsHereWithoutAHomeDirectory) {
  const Environment home{"HOME", {}};
  const Environment cache{"XDG_CACHE_HOME", {}};
  EXPECT_EQ(cache_directory(), "./.cache/seqtrain");
}

}  // namespace
}  // namespace seqtrain
