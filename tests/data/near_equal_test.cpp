#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/near_equal.hpp>

namespace seqtrain::data {
namespace {

using Group = std::vector<std::size_t>;

TEST(NearEqual, LooksPastCaseAndPunctuation) {
  const std::vector<TextKey> keys{text_key("A good film!"), text_key("Bad."),
                                  text_key("a  good, FILM"), text_key("A good filme"),
                                  text_key("bad")};
  EXPECT_EQ(near_equal(keys), (std::vector<Group>{{0, 2}, {1, 4}}));
}

TEST(NearEqual, TellsPairsFromTexts) {
  const std::vector<TextKey> keys{text_key("one two", "three"), text_key("one", "two three"),
                                  text_key("one two three"), text_key("One two", "three?")};
  EXPECT_EQ(near_equal(keys), (std::vector<Group>{{0, 3}}));
}

TEST(NearEqual, FindsLongTextsThatDifferInAWord) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "word" + std::to_string(i * 7919 % 1000) + " ";
  std::string changed = text;
  changed.replace(changed.find("word919"), 7, "wyrd919");
  std::string other;
  for (int i = 0; i < 300; ++i) other += "word" + std::to_string(i * 104729 % 1000) + " ";
  const std::vector<TextKey> keys{text_key(text), text_key(other), text_key(changed)};
  EXPECT_EQ(near_equal(keys), (std::vector<Group>{{0, 2}}));
}

TEST(NearEqual, LeavesShortTextsThatDifferInAWord) {
  const std::vector<TextKey> keys{text_key("The man sleeps."), text_key("The man eats.")};
  EXPECT_TRUE(near_equal(keys).empty());
}

TEST(NearEqual, CountsTheTextsOfAnotherSet) {
  const auto keys_of = [](const std::vector<std::string>& texts) {
    std::vector<TextKey> keys;
    for (const auto& text : texts) keys.push_back(text_key(text));
    return keys;
  };
  const auto train = keys_of({"A good film.", "Two dogs run", "two dogs  run!"});
  EXPECT_EQ(count_near_equal(
                train, keys_of({"a good film", "A GOOD, film", "another one", "another one"})),
            2U);
  std::string longer;
  for (int i = 0; i < 60; ++i) longer += "word" + std::to_string(i) + " ";
  EXPECT_EQ(count_near_equal(keys_of({longer}), keys_of({longer + "more", "word1"})), 1U);
  EXPECT_EQ(count_near_equal(train, {}), 0U);
  EXPECT_EQ(count_near_equal({}, keys_of({"a", "a"})), 0U);
}

}  // namespace
}  // namespace seqtrain::data
