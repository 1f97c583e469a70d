#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/normalizers/word_marks.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

std::string normal_form_of(std::string_view text) {
  std::string out;
  WordMarks{}.normalize(text, out);
  return out;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> result;
  WordSplitter{}.for_each_word(text, [&](std::string_view word) { result.emplace_back(word); });
  return result;
}

TEST(WordMarks, EqualRegularExpressionsOfPython) {
  const auto golden = json::Document::load(tests::golden() / "word_marks.json");
  for (const auto& entry : golden.root().items()) {
    const std::string text{entry.at("text").string()};
    EXPECT_EQ(normal_form_of(text), entry.at("marked").string()) << text;
    std::vector<std::string> expected;
    for (const auto& word : entry.at("words").items()) expected.emplace_back(word.string());
    EXPECT_EQ(split_words(normal_form_of(text)), expected) << text;
  }
  EXPECT_GT(golden.root().items().size(), 50U);
}

TEST(WordMarks, TellCapitalsOfAsciiOnly) {
  EXPECT_EQ(normal_form_of("Paris PARIS A a McCoy École"),
            "xxmaj paris xxup paris a a mccoy école");
}

TEST(WordMarks, TakeTimeInProportionToLongRepetitions) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += i % 3 == 2 ? "b " : "a ";
  EXPECT_EQ(normal_form_of(text), text);
  const std::string run(300'000, ' ');
  EXPECT_EQ(normal_form_of("a" + run + "a" + run + "a"), " xxwrep 3 a ");
}

TEST(WordSplitter, CutsAtWhatIsNoWordCharacter) {
  EXPECT_EQ(split_words("it's 3.14, née_2"),
            (std::vector<std::string>{"it", "'", "s", "3", ".", "14", ",", "née_2"}));
  EXPECT_EQ(split_words("日本x語"), (std::vector<std::string>{"日", "本", "x", "語"}));
  EXPECT_EQ(split_words(" \t\n\u3000"), std::vector<std::string>{});
}

}  // namespace
}  // namespace seqtrain::text
