#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/predict/drift.hpp>

#include "support/fake_predictor.hpp"
#include "support/letter_tokenizer.hpp"

namespace seqtrain::predict {
namespace {

/// Samples 200 texts, of which each fourth ends with a word.
TextSample sample_with(const std::string& word, int first) {
  TextSample sample;
  for (int i = 0; i < 200; ++i) {
    const auto number = static_cast<std::uint64_t>(first + i);
    std::string text = "Some" + std::to_string(random::mix(number) % 20);
    text += " and " + std::to_string(i % 7) + (i % 4 == 0 ? " " + word : "") + " .";
    sample.add(text, {});
  }
  return sample;
}

Drift drift_of(const TextSample& before, const TextSample& now, const Task& task) {
  return compare(before, {.name = "a", .shares = {0.5, 0.5}}, now,
                 {.name = "b", .shares = {0.25, 0.75}}, task, 1);
}

TEST(DriftOfFiles, NamesTheWordsThatTellThemApart) {
  const Task task{.labels = {"no", "yes"}};
  const auto drift = drift_of(sample_with("Soup", 0), sample_with("Stew", 500), task);
  ASSERT_EQ(drift.words.size(), 2U);
  EXPECT_EQ(drift.words[0].word, "soup");
  EXPECT_DOUBLE_EQ(drift.words[0].reference, 0.25);
  EXPECT_DOUBLE_EQ(drift.words[0].current, 0);
  EXPECT_NEAR(drift.words[0].z, -0.25 / std::sqrt(0.125 * 0.875 * 0.01), 1e-9);
  EXPECT_EQ(drift.words[1].word, "stew");
  EXPECT_GT(drift.domain.area, 0.55);
  EXPECT_NEAR(drift.stability_index, -0.25 * std::log(0.5) + 0.25 * std::log(1.5), 1e-12);
  const auto json = json::Document::parse(to_json(drift, task), "drift");
  EXPECT_EQ(json.root().at("words").items().size(), 2U);
  EXPECT_DOUBLE_EQ(json.root().at("current").at("labels").at("yes").number(), 0.75);
  EXPECT_EQ(json.root().at("predicted_labels").at("reading").string(), "a great change");
}

TEST(DriftOfFiles, FindsNoneBetweenEqualOnes) {
  const auto drift =
      drift_of(sample_with("Soup", 0), sample_with("Soup", 0), {.labels = {"a", "b"}});
  EXPECT_TRUE(drift.words.empty());
  EXPECT_EQ(domain_reading(drift), "no difference found");
}

TEST(DriftOfFiles, NeedsEnoughTextsForAClassifier) {
  TextSample one;
  one.add("a soup", {});
  const Task number{.labels = {"x"}, .problem_type = ProblemType::regression};
  EXPECT_TRUE(std::isnan(drift_of(one, one, {.labels = {"a", "b"}}).stability_index));
  const auto drift = drift_of(one, sample_with("x", 0), number);
  EXPECT_TRUE(drift.words.empty());
  EXPECT_TRUE(std::isnan(drift.domain.area));
  EXPECT_TRUE(std::isnan(drift.stability_index));
  EXPECT_EQ(domain_reading(drift), "too few texts to tell");
  const auto json = json::Document::parse(to_json(drift, number), "drift");
  EXPECT_FALSE(json.root().find("domain_classifier").has_value());
}

TEST(DriftOfFiles, TakesTheGreatestIndexOfSeveralLabels) {
  const Task several{.labels = {"x", "y"}, .problem_type = ProblemType::multi_label};
  const auto drift = drift_of(sample_with("a", 0), sample_with("a", 0), several);
  EXPECT_NEAR(drift.stability_index, -0.25 * std::log(0.5) + 0.25 * std::log(1.5), 1e-12);
}

TEST(DriftOfFiles, ReadsFiguresAsUsual) {
  EXPECT_EQ(reading_of({.area = 0.51, .standard_error = 0.006}), "no difference found");
  EXPECT_EQ(reading_of({.area = 0.55, .standard_error = 0.006}), "a small difference");
  EXPECT_EQ(reading_of({.area = 0.7, .standard_error = 0.006}), "a clear difference");
  EXPECT_EQ(reading_of({.area = 0.9, .standard_error = 0.006}), "the files are easily told apart");
  EXPECT_EQ(reading_of(0.09), "stable");
  EXPECT_EQ(reading_of(0.3), "a great change");
}

TEST(FactsOfAFile, CountTokensAndCharacters) {
  TextSample sample;
  sample.add("ab cd", {});
  sample.add("abc", {});
  const auto facts = facts_of(sample, {}, tests::FakePredictor{}, "f");
  EXPECT_DOUBLE_EQ(facts.characters, 4);
  EXPECT_NEAR(facts.tokens_a_word, 8 / 3.0, 1e-12);  // a token is a byte
  EXPECT_EQ(facts.texts, 2U);
}

TEST(DriftOfFiles, SaysWhyEqualTextsHaveNoClassifier) {
  TextSample equal;
  for (int i = 0; i < 200; ++i) equal.add("a soup", {});
  const auto drift = drift_of(equal, sample_with("x", 0), {.labels = {"a", "b"}});
  EXPECT_TRUE(std::isnan(drift.domain.area));
  EXPECT_EQ(domain_reading(drift), "too few different texts to tell");
}

TEST(DriftOfFiles, HasTheMeanOfEachValue) {
  const Task targets{.labels = {"v", "a"}, .problem_type = ProblemType::regression};
  const Drift drift{.reference = {.name = "a", .means = {1, 2}}, .current = {.name = "b"}};
  const auto json = json::Document::parse(to_json(drift, targets), "drift");
  EXPECT_EQ(json.root().at("reference").at("mean_values").at("a").number(), 2);
  EXPECT_FALSE(json.root().at("current").find("mean_values").has_value());
  const Task one{.labels = {"v"}, .problem_type = ProblemType::regression};
  const auto single = json::Document::parse(to_json({.current = {.means = {3}}}, one), "drift");
  EXPECT_EQ(single.root().at("current").at("mean_value").number(), 3);
}

TEST(DriftOfFiles, HasNoIndexForAClassifierWithOneOutput) {
  const Task reranker{.labels = {"LABEL_0"}};
  EXPECT_TRUE(
      std::isnan(drift_of(sample_with("a", 0), sample_with("a", 0), reranker).stability_index));
}

/// A tokenizer without special tokens.
struct BareTokenizer : tests::LetterTokenizer {
  std::size_t encode(std::string_view text, std::optional<std::string_view>, text::EncodeOptions,
                     Scratch&, std::vector<text::Id>& out) const {
    for (const char c : text) out.push_back(static_cast<unsigned char>(c));
    return text.size();
  }
};

TEST(FactsOfAFile, NeedNoSpecialTokens) {
  TextSample sample;
  sample.add("ab cd", {});
  sample.add("", "x");
  const tests::FakePredictor model{.encode_ = predict::TextEncoder{BareTokenizer{}}};
  EXPECT_DOUBLE_EQ(facts_of(sample, {}, model, "f").tokens_a_word, 2.5);
}

}  // namespace
}  // namespace seqtrain::predict
