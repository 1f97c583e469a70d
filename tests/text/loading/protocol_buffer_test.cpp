#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/loading/protocol_buffer.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::text {
namespace {

std::string fields_of(const std::string& bytes, std::size_t place = 0) {
  std::string found;
  ProtocolReader{bytes, place}.for_each([&](const ProtocolField& field) {
    found += std::to_string(field.number()) + "@" + std::to_string(field.place()) + " ";
  });
  return found;
}

TEST(ProtocolReader, ReadsEachKindOfField) {
  const std::string bytes{"\x08\x96\x01\x12\x02xy\x1d\0\0\x80\x3f\x21\1\0\0\0\0\0\0\0", 21};
  EXPECT_EQ(fields_of(bytes, 100), "1@101 2@105 3@108 4@113 ");
  std::vector<std::string> values;
  ProtocolReader{bytes}.for_each([&](const ProtocolField& field) {
    if (field.number() == 1) values.push_back(std::to_string(field.integer()));
    if (field.number() == 2) values.emplace_back(field.bytes());
    if (field.number() == 3) values.push_back(std::to_string(field.number32()));
  });
  EXPECT_EQ(values, (std::vector<std::string>{"150", "xy", "1.000000"}));
}

TEST(ProtocolReader, SaysWhereBytesAreNoMessage) {
  for (const std::string bytes : {"\x0a", "\x0a\x05xy", "\x0b", "\x08", "\x09xy", "\x0dxy"}) {
    const auto said = tests::refusal([&] { fields_of(bytes, 7); });
    EXPECT_TRUE(said.starts_with("is cut off or damaged at byte ")) << said;
  }
  EXPECT_EQ(tests::refusal([] { fields_of("\x0a\x05xy", 7); }), "is cut off or damaged at byte 9");
  EXPECT_THROW(fields_of(std::string(11, '\xff')), InputError);
}

TEST(ProtocolField, SaysWhereItHoldsAnotherKind) {
  const auto said = tests::refusal([] {
    ProtocolReader{"\x08\x01"}.for_each(
        [](const ProtocolField& field) { static_cast<void>(field.bytes()); });
  });
  EXPECT_EQ(said, "field 1 at byte 1 does not hold bytes");
}

}  // namespace
}  // namespace seqtrain::text
