#include <gtest/gtest.h>

#include <seqtrain/core/cache_directory.hpp>

#include "support/environment.hpp"

namespace seqtrain {
namespace {

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
