#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>

namespace seqtrain::json {
namespace {

std::string message_of(const auto& access) {
  try {
    access();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Json, ReadsTypedValues) {
  const auto document = Document::parse(R"({"a": {"b": [1, "x", true, 2.5]}, "c": null})", "t");
  const auto items = document.root().at("a").at("b").items();
  EXPECT_EQ(items[0].integer(), 1);
  EXPECT_EQ(items[0].number(), 1.0);
  EXPECT_EQ(items[1].string(), "x");
  EXPECT_TRUE(items[2].boolean());
  EXPECT_EQ(items[3].number(), 2.5);
  EXPECT_FALSE(document.root().find("c").has_value());
  EXPECT_FALSE(document.root().find("d").has_value());
  EXPECT_EQ(document.root().members().size(), 2U);
}

TEST(Json, NamesFileAndPathInErrors) {
  const auto document = Document::parse(R"({"model": {"merges": ["a b", 7]}})", "tokenizer.json");
  const auto merges = document.root().at("model").at("merges").items();
  EXPECT_EQ(message_of([&] { (void)merges[1].string(); }),
            "tokenizer.json: model.merges[1]: expected a string");
  EXPECT_EQ(message_of([&] { (void)document.root().at("model").at("vocab"); }),
            "tokenizer.json: model.vocab: missing");
  EXPECT_EQ(message_of([&] { (void)merges[0].find("x"); }),
            "tokenizer.json: model.merges[0]: expected an object");
}

TEST(Json, TakesTheLastValueOfARepeatedKey) {
  const auto document = Document::parse(R"({"a": 1, "b": 0, "a": 2, "b": null})", "t");
  EXPECT_EQ(document.root().at("a").integer(), 2);
  EXPECT_FALSE(document.root().find("b"));
  EXPECT_TRUE(document.root().has_null("b"));
}

TEST(Json, ReadsAnIntegerAsItsDigits) {
  const auto document = Document::parse(R"(["a", -7, true])", "t");
  const auto items = document.root().items();
  EXPECT_EQ(items[0].string_or_digits(), "a");
  EXPECT_EQ(items[1].string_or_digits(), "-7");
  EXPECT_EQ(message_of([&] { (void)items[2].string_or_digits(); }), "t: [2]: expected a string");
}

TEST(Json, OutlivesAMove) {
  auto first = Document::parse(R"({"a": "value"})", "t");
  const auto second = std::move(first);
  EXPECT_EQ(second.root().at("a").string(), "value");
}

TEST(Json, RefusesWhatIsNotJson) {
  EXPECT_THROW(Document::parse("{", "t"), InputError);
  EXPECT_THROW(Document::parse("", "t"), InputError);
  EXPECT_THROW(Document::parse({}, "t"), InputError);
  EXPECT_THROW(Document::parse("{\"a\": \"\xff\"}", "t"), InputError);
  EXPECT_THROW(Document::parse(std::string(100000, '['), "t"), InputError);
  EXPECT_THROW(Document::parse("\xEF\xBB\xBF{}", "t"), InputError);
  EXPECT_THROW(Document::load("no/such/file.json"), InputError);
}

TEST(Json, TakesIntegersThatNoMachineWordHolds) {
  const auto document = Document::parse(
      R"({"a": 1000000000000000019884624838656, "b": "\\\"123456789012345678901", "c": 7})", "t");
  EXPECT_DOUBLE_EQ(document.root().at("a").number(), 1e30);
  EXPECT_EQ(document.root().at("b").string(), "\\\"123456789012345678901");
  EXPECT_EQ(document.root().at("c").integer(), 7);
}

}  // namespace
}  // namespace seqtrain::json
