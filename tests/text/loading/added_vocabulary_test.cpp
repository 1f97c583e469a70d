#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/added_vocabulary.hpp>

namespace seqtrain::text {
namespace {

Vocabulary vocabulary_of(const std::vector<std::string_view>& tokens) {
  Vocabulary vocabulary;
  for (const auto token : tokens) {
    vocabulary.add(token, static_cast<std::int64_t>(vocabulary.entries().size()));
  }
  return vocabulary;
}

TEST(AddedVocabulary, GivesTheIdsOfTokenizers) {
  Vocabulary vocabulary = vocabulary_of({"a", "b"});
  vocabulary.add("far", 9);
  AddedVocabulary added{vocabulary};
  for (const char* token : {"b", "new", "far", "newer", "", "b"}) added.add({.content = token});
  std::vector<Id> ids;
  for (const auto& token : added.tokens(false)) ids.push_back(token.id);
  EXPECT_EQ(ids, (std::vector<Id>{1, 3, 9, 10}));
  EXPECT_EQ(vocabulary.size(), 11u);
}

TEST(AddedVocabulary, CountsRepeatedTokensOnceUnlessToldOtherwise) {
  for (const auto way : {NewIds::after_different, NewIds::after_all, NewIds::by_count}) {
    Vocabulary vocabulary{way};
    vocabulary.add("a", 0);
    vocabulary.add("a", 1);
    vocabulary.add("b", 2);
    EXPECT_EQ(vocabulary.give_id("new"), way == NewIds::after_all ? 3 : 2);
  }
}

TEST(AddedVocabulary, GivesNewIdsAfterThoseOfOldTokensUnlessToldOtherwise) {
  for (const auto way : {NewIds::after_different, NewIds::after_all, NewIds::by_count}) {
    Vocabulary vocabulary{way};
    vocabulary.add("far", 9);
    EXPECT_EQ(vocabulary.give_id("far"), 9);
    EXPECT_EQ(vocabulary.give_id("new"), way == NewIds::by_count ? 1 : 10);
    EXPECT_EQ(vocabulary.give_id("newer"), way == NewIds::by_count ? 2 : 11);
  }
}

TEST(AddedVocabulary, ATokenThatIsAddedAgainTakesNewFlags) {
  Vocabulary vocabulary = vocabulary_of({"a"});
  AddedVocabulary added{vocabulary};
  added.add({.content = "a"});
  added.add({.content = "a", .lstrip = true, .special = false});
  const auto tokens = added.tokens(true);
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_TRUE(tokens[0].lstrip);
  EXPECT_TRUE(tokens[0].normalized) << "the opposite of special";
  EXPECT_TRUE(tokens[0].stays_text) << "it was special once";
  EXPECT_TRUE(added.has(DeclaredToken{.content = "a", .lstrip = true, .special = false}));
  EXPECT_FALSE(added.has(DeclaredToken{.content = "a"}));
}

TEST(AddedVocabulary, ReadsStringsAndObjects) {
  const auto document = json::Document::parse(
      R"(["x", {"content": "y", "rstrip": true}, {"content": "z", "special": false}])", "test");
  const auto values = document.root().items();
  EXPECT_EQ(read_declared_token(values[0]), (DeclaredToken{.content = "x"}));
  EXPECT_EQ(read_declared_token(values[1], true), (DeclaredToken{.content = "y", .rstrip = true}));
  EXPECT_EQ(read_declared_token(values[1]),
            (DeclaredToken{.content = "y", .rstrip = true, .special = false}));
  EXPECT_FALSE(read_declared_token(values[2], true).special);
}

}  // namespace
}  // namespace seqtrain::text
