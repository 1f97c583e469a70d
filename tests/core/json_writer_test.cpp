#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>

namespace seqtrain::json {
namespace {

TEST(JsonWriter, WritesNestedValues) {
  Writer writer;
  writer.begin_object().member("a", 1).key("b").begin_array().value("x").value(2.5).value(true);
  writer.null().end_array().key("c").begin_object().end_object().end_object();
  EXPECT_EQ(writer.text(), R"({"a":1,"b":["x",2.5,true,null],"c":{}})");
}

TEST(JsonWriter, WritesRangesAsArrays) {
  Writer writer;
  writer.begin_object().member("a", std::vector<std::string>{"x", "y"}).key("b");
  writer.value(std::vector<std::vector<int>>{{1, 2}, {}}).end_object();
  EXPECT_EQ(writer.text(), R"({"a":["x","y"],"b":[[1,2],[]]})");
}

TEST(JsonWriter, Indents) {
  Writer writer{2};
  writer.begin_object().member("a", 1).key("b").begin_array().value(1).end_array().end_object();
  EXPECT_EQ(writer.text(), "{\n  \"a\": 1,\n  \"b\": [\n    1\n  ]\n}");
}

TEST(JsonWriter, HasNullForWhatJsonHasNoNumberFor) {
  Writer writer;
  writer.begin_array().value(std::numeric_limits<double>::quiet_NaN());
  writer.value(std::numeric_limits<float>::infinity()).end_array();
  EXPECT_EQ(writer.text(), "[null,null]");
}

TEST(JsonWriter, NumbersReadBackToTheSameBits) {
  for (const double number : {0.1, 1e-300, 1.7976931348623157e308, 5e-5, -0.0, 1.0 / 3}) {
    const auto document = Document::parse(Writer{}.value(number).text(), "t");
    EXPECT_EQ(document.root().number(), number);
  }
}

TEST(JsonWriter, StringsReadBackToTheSameBytes) {
  std::string every_byte;
  for (int byte = 0; byte < 0x80; ++byte) every_byte += static_cast<char>(byte);
  every_byte += "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x99\x82";
  const auto document = Document::parse(Writer{}.value(every_byte).text(), "t");
  EXPECT_EQ(document.root().string(), every_byte);
}

}  // namespace
}  // namespace seqtrain::json
