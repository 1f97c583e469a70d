#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/class_weights.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::data {
namespace {

EncodedSet labelled(const std::vector<std::int32_t>& labels) {
  EncodedSet set{10, 0};
  for (const std::int32_t label : labels) set.push_back(std::vector<std::int32_t>{1}, 1, label);
  return set;
}

TEST(BalancedWeights, MakeEveryLabelCountTheSame) {
  const Labels labels{{"a", "b", "c"}};
  EXPECT_EQ(balanced_weights(labelled({0, 1, 2}), labels), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(balanced_weights(labelled({1, 0, 0, 2, -1, 0, 1}), labels),
            (std::vector<double>{6.0 / 9, 6.0 / 6, 6.0 / 3}));
}

TEST(BalancedWeights, OfSeveralLabelsAreExamplesWithoutALabelForEachWithIt) {
  const Labels labels{{"a", "b"}, ProblemType::multi_label};
  EncodedSet set{10, 0, 2};
  const std::vector<std::int32_t> ids{1};
  for (const auto& targets : std::vector<std::vector<float>>{{1, 0}, {1, 0}, {1, 0}, {1, 1}}) {
    set.push_back(ids, 1, 0, targets);
  }
  EXPECT_EQ(balanced_weights(set, labels), (std::vector<double>{1.0 / 4, 3}));
}

TEST(BalancedWeights, OfSoftLabelsCountProbabilities) {
  const Labels labels{{"a", "b"}, ProblemType::single_label, true};
  EncodedSet set{10, 0, 2};
  const std::vector<std::int32_t> ids{1};
  for (int row = 0; row < 4; ++row) set.push_back(ids, 1, 0, std::vector<float>{0.75F, 0.25F});
  EXPECT_EQ(balanced_weights(set, labels), (std::vector<double>{4 / 6.0, 2}));
}

TEST(BalancedWeights, NeedAnExampleOfEachLabel) {
  EXPECT_EQ(tests::problem_of([] {
              balanced_weights(labelled({0, 0, -1}), Labels{{"neg", "pos"}});
            }),
            "class weights: label 'pos' has no example, so it cannot be weighted; give the weights "
            "as numbers");
}

}  // namespace
}  // namespace seqtrain::data
