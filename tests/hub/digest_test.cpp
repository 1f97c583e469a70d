#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/hub/digest.hpp>

namespace seqtrain::hub {
namespace {

bool has_hash(std::string_view text, const std::string& hash) {
  Digest digest{hash, text.size()};
  digest.update(std::as_bytes(std::span{text}.first(text.size() / 2)));
  digest.update(std::as_bytes(std::span{text}.subspan(text.size() / 2)));
  return digest.matches();
}

TEST(HubDigest, IsGitsForSmallFiles) {
  EXPECT_TRUE(has_hash("hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"));
  EXPECT_TRUE(has_hash("", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"));
  EXPECT_FALSE(has_hash("hello", "ce013625030ba8dba906f756967f9e9ca394464a"));
}

TEST(HubDigest, IsSha256ForLargeFiles) {
  EXPECT_TRUE(has_hash("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  EXPECT_FALSE(has_hash("abd", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

TEST(HubDigest, TakesNothingElse) {
  EXPECT_THROW((Digest{"../../etc/passwd", 0}), InputError);
  EXPECT_THROW((Digest{std::string(40, 'G'), 0}), InputError);
  EXPECT_THROW((Digest{std::string(32, '0'), 0}), InputError);
}

}  // namespace
}  // namespace seqtrain::hub
