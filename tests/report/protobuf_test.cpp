#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/report/protobuf.hpp>

namespace seqtrain::report {
namespace {

using namespace std::string_literals;

TEST(ValidUtf8, ReplacesWhatIsInvalid) {
  EXPECT_EQ(valid_utf8("größe"), "größe");
  EXPECT_EQ(valid_utf8("a\xff\xc3"), "a\ufffd\ufffd");
  EXPECT_EQ(valid_utf8("\xed\xa0\x80x"), "\ufffd\ufffd\ufffdx");
  EXPECT_EQ(valid_utf8("a\0b"s), "a\0b"s);
}

// The examples of protobuf.dev/programming-guides/encoding.
TEST(Message, EncodesNumbers) {
  EXPECT_EQ(Message{}.integer(1, 150).encoded(), "\x08\x96\x01");
  EXPECT_EQ(Message{}.integer(1, -2).encoded(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(Message{}.integer(1, 0).encoded(), "\x08\0"s);
  EXPECT_EQ(Message{}.integer(16, 1).encoded(), "\x80\x01\x01");
  EXPECT_EQ(Message{}.number(1, 0.5).encoded(), "\x09\0\0\0\0\0\0\xe0\x3f"s);
  EXPECT_EQ(Message{}.number(2, 0.5F).encoded(), "\x15\0\0\0\x3f"s);
}

TEST(Message, EncodesTextsAndMessages) {
  EXPECT_EQ(Message{}.string(2, "testing").encoded(), "\x12\x07testing");
  EXPECT_EQ(Message{}.message(3, Message{}.integer(1, 150)).encoded(), "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(Message{}.bytes(1, "\xff\0"s).encoded(), "\x0a\x02\xff\0"s);
  EXPECT_EQ(Message{}.string(1, "\xff").encoded(), "\x0a\x03\ufffd");
  EXPECT_EQ(Message{}.string(1, std::string(300, 'a')).encoded().substr(0, 4),
            "\x0a\xac\x02"
            "a");
}

}  // namespace
}  // namespace seqtrain::report
