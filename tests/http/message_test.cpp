#include <string>

#include <gtest/gtest.h>

#include <seqtrain/http/message.hpp>

namespace seqtrain::http {
namespace {

TEST(Url, FollowsALocation) {
  const auto base = Url::parse("https://host:8443/a/b?c=d", "base");
  EXPECT_EQ(base.at("/x?y#z", "location").origin(), "https://host:8443");
  EXPECT_EQ(base.at("/x?y#z", "location").target, "/x?y");
  EXPECT_EQ(base.at("http://other/x", "location").origin(), "http://other");
  EXPECT_THROW(static_cast<void>(base.at("//other/x", "location")), InputError);
  EXPECT_THROW(static_cast<void>(base.at("x", "location")), InputError);
}

TEST(Response, KnowsARedirection) {
  for (const int status : {301, 302, 303, 307, 308}) {
    EXPECT_EQ((Response{status, {{"location", "/x"}}, {}}).redirection(), "/x") << status;
  }
  EXPECT_EQ((Response{200, {{"Location", "/x"}}, {}}).redirection(), std::nullopt);
  EXPECT_EQ((Response{308, {{"Range", "bytes=0-1"}}, {}}).redirection(), std::nullopt);
}

TEST(PercentEncode, LeavesOnlyWhatNeedsNoCare) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("a b/c%#?+&=ü\n"), "a%20b%2Fc%25%23%3F%2B%26%3D%C3%BC%0A");
}

}  // namespace
}  // namespace seqtrain::http
