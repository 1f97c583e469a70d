#include <string>

#include <gtest/gtest.h>

#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {
namespace {

TEST(CheckKey, TakesRelativePaths) {
  for (const char* key : {"a", "a/b", "a.b", "...", ".a", "a..", "ü/ 1", "a/..b/c%2F#?+"}) {
    EXPECT_NO_THROW(check_key(key)) << key;
  }
}

TEST(CheckKey, NamesTheKeyItRefuses) {
  try {
    check_key("a/../b");
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("'a/../b'"), std::string::npos);
  }
}

}  // namespace
}  // namespace seqtrain::sink
