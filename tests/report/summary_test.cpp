#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/report/summary.hpp>

#include "support/event_records.hpp"

namespace seqtrain::report {
namespace {

// event_file_test.cpp compares the bytes with those of tensorboard.

TEST(Summary, HoldsSeveralValues) {
  const auto event =
      summary_event(1.5, 7, Summary{}.scalar("a", 0.5).scalar("b/\xff", -2).text("c", "*text*"));
  const auto seen = tests::event_seen(event.encoded());
  EXPECT_EQ(seen.step, 7);
  EXPECT_EQ(seen.scalars, (std::map<std::string, float>{{"a", 0.5F}, {"b/\ufffd", -2.0F}}));
  EXPECT_EQ(seen.texts, (std::map<std::string, std::string>{{"c", "*text*"}}));
}

/// Returns the field of google.protobuf.Value that holds the value of a hyperparameter.
int field_of(const std::string& value) {
  const auto event = summary_event(1.5, 0, Summary{}.hparams({{"flag", value}}, 1.5));
  const auto content =
      tests::event_seen(event.encoded()).plugin_data.at("_hparams_/session_start_info");
  const auto entry = tests::protobuf_bytes(tests::protobuf_bytes(content, 3), 1);
  return tests::protobuf_fields(tests::protobuf_bytes(entry, 2)).at(0).number;
}

TEST(Summary, WritesHyperparametersByTheirType) {
  constexpr int number = 2, string = 3, boolean = 4;
  for (const char* text : {"3", "-1", "2e-5", "0.5", "1234567890123"}) {
    EXPECT_EQ(field_of(text), number) << text;
  }
  for (const char* text : {"", "bf16", "3e", "1 ", " 1", "0x10", "nan", "inf", "1e999", "True"}) {
    EXPECT_EQ(field_of(text), string) << text;
  }
  EXPECT_EQ(field_of("true"), boolean);
  EXPECT_EQ(field_of("false"), boolean);
}

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
