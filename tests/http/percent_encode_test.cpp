#include <gtest/gtest.h>

#include <seqtrain/http/percent_encode.hpp>

namespace seqtrain::http {
namespace {

TEST(PercentEncode, LeavesOnlyWhatNeedsNoCare) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("a b/c%#?+&=ü\n"), "a%20b%2Fc%25%23%3F%2B%26%3D%C3%BC%0A");
}

}  // namespace
}  // namespace seqtrain::http
