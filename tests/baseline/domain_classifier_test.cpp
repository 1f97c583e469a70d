#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/baseline/domain_classifier.hpp>
#include <seqtrain/metrics/roc_auc.hpp>

namespace seqtrain::baseline {
namespace {

std::vector<DomainText> two_domains(std::size_t count, const std::string& second_word) {
  std::vector<DomainText> texts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string own =
        "w" + std::to_string(i * 7919 % 997) + " and x" + std::to_string(i * 104729 % 641);
    texts.push_back({.text = own + " soup", .pair = std::nullopt, .is_second = false});
    texts.push_back({.text = own + " " + second_word, .pair = std::nullopt, .is_second = true});
  }
  return texts;
}

double area_of(const std::vector<DomainText>& texts) {
  std::vector<bool> is_second;
  for (const auto& text : texts) is_second.push_back(text.is_second);
  return metrics::roc_auc(domain_scores(texts).scores, is_second).area;
}

TEST(DomainClassifier, TellsDomainsApart) {
  EXPECT_GT(area_of(two_domains(100, "stew")), 0.99);
}

TEST(DomainClassifier, KnowsNoTextThatItJudges) {
  // Each text is in both domains. A classifier that has read it in one would be wrong or right.
  const auto texts = two_domains(100, "soup");
  EXPECT_NEAR(area_of(texts), 0.5, 1e-9);
  std::vector<DomainText> repeated;  // and each of these is in one, three times
  for (std::size_t i = 0; i < 150; ++i) {
    repeated.push_back({.text = "y" + std::to_string(i * 31 % 50 * 7919),
                        .pair = std::nullopt,
                        .is_second = i * 31 % 50 % 2 == 0});
  }
  EXPECT_LT(area_of(repeated), 0.75);
}

TEST(DomainClassifier, IsEqualForAnyNumberOfThreads) {
  const auto texts = two_domains(80, "soups");
  EXPECT_EQ(domain_scores(texts, 1).scores, domain_scores(texts, 3).scores);
}

TEST(DomainClassifier, NeedsTextsOfBothDomainsInEachFold) {
  EXPECT_TRUE(domain_scores({}).scores.empty());
  const auto equal = domain_scores(std::vector<DomainText>(50, {.text = "soup"}));
  EXPECT_TRUE(equal.scores.empty());
  EXPECT_EQ(equal.problem, "too few different texts to tell");
}

TEST(DomainClassifier, NeedsWords) {
  std::vector<DomainText> texts;
  for (std::size_t i = 1; i < 200; ++i) {
    texts.push_back({.text = std::string(i, ' '), .pair = std::nullopt, .is_second = i % 2 == 0});
  }
  EXPECT_EQ(domain_scores(texts).problem, "too few words to tell");
}

}  // namespace
}  // namespace seqtrain::baseline
