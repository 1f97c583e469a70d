#include <initializer_list>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/data/value_type.hpp>

namespace seqtrain::data {
namespace {

using ValueKind = TableCell::Kind;

ColumnType type_of(ValueKind kind, std::initializer_list<std::string_view> values) {
  ValueType type;
  for (const auto value : values) type.add({.kind = kind, .text = value});
  return type.type();
}

TEST(ValueTypeOfAColumn, IsThatOfAllValues) {
  EXPECT_EQ(type_of(ValueKind::json, {"1", "-2", "9223372036854775807"}), ColumnType::integer);
  EXPECT_EQ(type_of(ValueKind::json, {"1", "2.5", "-1e3"}), ColumnType::real);
  EXPECT_EQ(type_of(ValueKind::json, {"true", "false"}), ColumnType::boolean);
  EXPECT_EQ(type_of(ValueKind::json, {"true", "1"}), ColumnType::text);
  EXPECT_EQ(type_of(ValueKind::json, {"[1]"}), ColumnType::text);
  EXPECT_EQ(type_of(ValueKind::text, {"1"}), ColumnType::text);
  EXPECT_EQ(type_of(ValueKind::untyped, {"1", "", "3"}), ColumnType::integer);
  EXPECT_EQ(type_of(ValueKind::untyped, {"true"}), ColumnType::text);
  EXPECT_EQ(type_of(ValueKind::untyped, {"", ""}), ColumnType::text);
  EXPECT_EQ(type_of(ValueKind::null, {"", ""}), ColumnType::text);
}

TEST(ValueTypeOfAColumn, LosesNothing) {
  EXPECT_EQ(type_of(ValueKind::json, {"9223372036854775808"}), ColumnType::text);
  EXPECT_EQ(type_of(ValueKind::json, {"9007199254740993", "1.5"}), ColumnType::text);
  EXPECT_EQ(type_of(ValueKind::json, {"9007199254740992", "1.5"}), ColumnType::real);
  EXPECT_EQ(type_of(ValueKind::json, {"1e999"}), ColumnType::text);
  for (const auto text :
       {"007", "+1", "1.", ".5", " 1", "1 ", "nan", "inf", "0x1", "-", "1e", ""}) {
    EXPECT_FALSE(is_json_number(text)) << text;
  }
  for (const auto text : {"0", "-0.5", "10", "1e5", "1.5E-3"}) EXPECT_TRUE(is_json_number(text));
}

TEST(ValueTypeOfAColumn, IsTextIfADoubleDoesNotGiveACellBack) {
  EXPECT_EQ(type_of(ValueKind::untyped, {"1.1", "1.10", "1.2"}), ColumnType::text);
  for (const auto text :
       {"12e4", "1e5", "1.50", "0.10000000000000001", "123456789012345678901.5"}) {
    EXPECT_EQ(type_of(ValueKind::untyped, {text}), ColumnType::text) << text;
  }
  for (const auto text : {"1.1", "1.0", "-0.0", "100000.0", "0.0001", "1e-05", "1e+16", "0.1"}) {
    EXPECT_EQ(type_of(ValueKind::untyped, {text}), ColumnType::real) << text;
  }
  EXPECT_EQ(type_of(ValueKind::untyped, {"1.5", "2"}), ColumnType::real);
  EXPECT_EQ(type_of(ValueKind::untyped, {"1.0", "1"}), ColumnType::text);
  EXPECT_EQ(type_of(ValueKind::untyped, {"1", "-0"}), ColumnType::real);
}

TEST(ValueTypeOfAColumn, IsTextForJsonOfMoreThan17Digits) {
  EXPECT_EQ(type_of(ValueKind::json, {"1.10", "1.0", "12e4"}), ColumnType::real);
  EXPECT_EQ(type_of(ValueKind::json, {"0.00012345678901234567"}), ColumnType::real);
  EXPECT_EQ(type_of(ValueKind::json, {"0.12345678901234567890"}), ColumnType::text);
  EXPECT_EQ(type_of(ValueKind::json, {"100000000000000000000.0"}), ColumnType::real);
}

}  // namespace
}  // namespace seqtrain::data
