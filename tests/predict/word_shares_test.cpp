#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/predict/word_shares.hpp>
#include <seqtrain/predict/words.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::predict {
namespace {

/// Encodes a text as its bytes, cut to this many.
auto cut_to(std::size_t most, bool tail = false) {
  return [=](std::string_view text, std::optional<std::string_view> pair, bool cut) {
    Encoded encoded;
    for (const char c : std::string{text} + "|" + std::string{pair.value_or("")}) {
      encoded.input_ids.push_back(c);
    }
    auto& ids = encoded.input_ids;
    if (cut && ids.size() > most) {
      tail ? void(ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(most)))
           : ids.resize(most);
    }
    return encoded;
  };
}

/// Returns made logits of the texts: the number of bytes, and a game in which words go together.
metrics::Logits logits_of(const std::vector<PartialText>& texts) {
  metrics::Logits logits{static_cast<Eigen::Index>(texts.size()), 2};
  for (Eigen::Index row = 0; const PartialText& part : texts) {
    const auto has = [&](const char* word) { return part.text.find(word) != std::string::npos; };
    logits(row, 0) = static_cast<float>(part.text.size() + part.pair.value_or("").size());
    logits(row++, 1) = (has("not") && has("good") ? -3.0F : has("good") ? 1.0F : 0.0F) + 0.5F;
  }
  return logits;
}

Explanation explained(const WordShares& shares, std::size_t output) {
  const auto logits = logits_of(shares.texts());
  return shares.explanation(logits, output, logits(0, static_cast<Eigen::Index>(output)));
}

std::vector<double> values(const Explanation& explanation) {
  std::vector<double> all;
  for (const WordShare& word : explanation.words) all.push_back(word.share);
  return all;
}

double sum(const Explanation& explanation) {
  double all = 0;
  for (const double value : values(explanation)) all += value;
  return all;
}

TEST(WordShares, AreShapleyValuesOfAllSets) {
  const WordShares shares{"it is not good", {}, cut_to(100)};
  EXPECT_EQ(shares.texts().size(), 16U);
  EXPECT_EQ(shares.texts().front().text, "it is not good");
  const auto made = explained(shares, 1);
  EXPECT_TRUE(made.exact);
  EXPECT_EQ(made.passes, 16U);
  EXPECT_DOUBLE_EQ(made.logit, -2.5);
  EXPECT_DOUBLE_EQ(made.baseline, 0.5);
  EXPECT_NEAR(made.gap, 0, 1e-12);
  // "good" gives 1 if it comes before "not", and else -3; "not" gives -4 after "good".
  const std::vector<double> expected{0, 0, -2, -1};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(values(made)[i], expected[i], 1e-12) << i;
}

TEST(WordShares, SumUpToTheDifferenceForAnyNumberOfPasses) {
  const std::string text = "it is not good that so many words are in this one text, is it?";
  for (const std::size_t passes : {10, 30, 31, 64, 200, 1000}) {
    const WordShares shares{text, "and one more", cut_to(1000), {.passes = passes}};
    EXPECT_LE(shares.texts().size(), passes);
    EXPECT_GE(2 * shares.texts().size(), std::min<std::size_t>(passes, 900)) << passes;
    for (const std::size_t output : {0, 1}) {
      const auto made = explained(shares, output);
      EXPECT_FALSE(made.exact);
      EXPECT_NEAR(sum(made), made.logit - made.baseline, 1e-9) << passes;
      EXPECT_LT(made.gap, 1e-9) << passes;
    }
  }
}

TEST(WordShares, ApproachTheExactOnesWithMorePasses) {
  const std::string text = "it is not good that it is so, is it?";
  const WordShares exact{text, {}, cut_to(100), {.passes = 4096}};
  const WordShares some{text, {}, cut_to(100), {.passes = 2000}};
  EXPECT_TRUE(explained(exact, 1).exact);
  EXPECT_FALSE(explained(some, 1).exact);
  const auto expected = values(explained(exact, 1)), found = values(explained(some, 1));
  ASSERT_EQ(found.size(), 12U);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 0.15) << i;
}

TEST(WordShares, AreEqualInEachCall) {
  const std::string text = "it is not good that so many words are in this text";
  const WordShares one{text, {}, cut_to(100)}, other{text, {}, cut_to(100)};
  EXPECT_EQ(values(explained(one, 1)), values(explained(other, 1)));
}

TEST(WordShares, BelongToSeveralWordsOfALongText) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "word ";
  const WordShares shares{text, "one two three", cut_to(1000), {.passes = 40}};
  EXPECT_LE(shares.texts().size(), 40U);
  const auto made = explained(shares, 0);
  EXPECT_LE(made.words.size(), 20U);
  EXPECT_GE(made.words.size(), 17U);
  EXPECT_EQ(text.substr(made.words[0].begin, made.words[0].end), "word word word word word word");
  EXPECT_FALSE(made.words[made.words.size() - 2].of_second);
  EXPECT_TRUE(made.words.back().of_second);
  EXPECT_EQ(made.words.back().end, 13U);
}

TEST(WordShares, HaveTheWordsOfBothTexts) {
  const WordShares shares{"ab cd", "efg", cut_to(100)};
  const auto made = explained(shares, 0);
  ASSERT_EQ(made.words.size(), 3U);
  EXPECT_TRUE(made.words[2].of_second);
  EXPECT_EQ(made.words[2].begin, 0U);
  EXPECT_NEAR(made.words[2].share, 3, 1e-9);  // its bytes
  EXPECT_NEAR(made.words[0].share, 2.5, 1e-9);
}

/// Returns the first and the last byte of the words that have shares.
std::pair<std::size_t, std::size_t> read_part(const WordShares& shares, bool of_second = false) {
  std::pair<std::size_t, std::size_t> part{1000, 0};
  for (const WordShare& word : explained(shares, 0).words) {
    if (word.of_second != of_second) continue;
    part.first = std::min(part.first, word.begin);
    part.second = std::max(part.second, word.end);
  }
  return part;
}

TEST(WordShares, LeaveOutWordsThatAreCutOff) {
  const std::string text = "one two three four five six seven eight nine ten";
  using Part = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(read_part({text, {}, cut_to(13)}), (Part{0, 13}));
  EXPECT_EQ(read_part({text, {}, cut_to(15)}), (Part{0, 18}));  // a part of "four" is read
  EXPECT_EQ(read_part({text, {}, cut_to(9, true)}), (Part{40, 48}));
  EXPECT_EQ(read_part({"one two", text, cut_to(15)}, true), (Part{0, 7}));
  const auto head_tail = [](std::string_view given, std::optional<std::string_view>, bool cut) {
    const std::string whole{given};
    Encoded encoded;
    for (const char c : !cut || whole.size() <= 16
                            ? whole
                            : whole.substr(0, 4) + whole.substr(whole.size() - 12)) {
      encoded.input_ids.push_back(c);
    }
    return encoded;
  };
  const auto words = explained(WordShares{text, {}, head_tail}, 0).words;
  std::string read;
  for (const auto& word : words) read += text.substr(word.begin, word.end - word.begin) + " ";
  EXPECT_EQ(read, "one eight nine ten ");
}

TEST(WordShares, OfATextWithoutWordsAreNone) {
  const WordShares shares{"  ", {}, cut_to(100)};
  ASSERT_EQ(shares.texts().size(), 1U);
  EXPECT_EQ(shares.texts()[0].text, "  ");
  const auto made = explained(shares, 0);
  EXPECT_TRUE(made.words.empty());
  EXPECT_EQ(made.gap, 0);
}

TEST(WordShares, GiveATokenizerWithoutSpecialTokensABlank) {
  const auto encode = [](std::string_view text, std::optional<std::string_view>, bool) {
    if (text.empty()) throw InputError{"the text has no ids"};
    return Encoded{.input_ids = {1}};
  };
  const WordShares shares{"ab cd", {}, encode};
  for (const PartialText& part : shares.texts()) EXPECT_NE(part.text, "");
  EXPECT_DOUBLE_EQ(explained(shares, 0).baseline, 1);
  EXPECT_EQ(tests::problem_of([&] { WordShares{"", {}, encode}; }), "the text has no ids");
}

TEST(WordShares, TellOfAModelThatContradictsItself) {
  const WordShares shares{"ab cd", {}, cut_to(100)};
  EXPECT_NEAR(shares.explanation(logits_of(shares.texts()), 0, 5.25).gap, 0.25, 1e-12);
}

}  // namespace
}  // namespace seqtrain::predict
