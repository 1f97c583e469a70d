#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/nn/initial_weights.hpp>

#include "support/made_checkpoint.hpp"

namespace seqtrain::model {
namespace {

at::Tensor fresh_weight(const AnyClassifier& model, const std::string& name) {
  return std::ranges::find(model.parameters(), name, &tensor::Parameter::name)->value.detach();
}

TEST(InitialWeights, AreNormal) {
  const tests::MadeCheckpoint made;
  const auto model = load_classifier(made.path(), {.seed = 3});
  const auto dense = fresh_weight(model, "bert.pooler.dense.weight");
  EXPECT_NEAR(dense.std().item<double>(), 0.02, 0.001);
  EXPECT_GT(dense.abs().max().item<double>(), 3 * 0.02);
}

/// Compares with torch's `trunc_normal_`: cut at two deviations, the deviation is 0.8796 times that
/// of the normal distribution.
TEST(InitialWeights, OfModernBertAreCutAsInTransformers) {
  constexpr double cut_deviation = 0.8796;
  const tests::MadeCheckpoint made{{.family = "modernbert"}};
  const auto model = load_classifier(made.path(), {.seed = 3});
  const double range = 0.02 / std::sqrt(2.0 * 2);
  const auto dense = fresh_weight(model, "head.dense.weight");
  EXPECT_NEAR(dense.std().item<double>() / (range * cut_deviation), 1, 0.05);
  EXPECT_NEAR(dense.abs().max().item<double>() / (2 * range), 0.98, 0.02);
  const double head = 1 / std::sqrt(64.0);
  const auto classifier = fresh_weight(model, "classifier.weight");
  EXPECT_NEAR(classifier.std().item<double>() / (head * cut_deviation), 1, 0.15);
  EXPECT_LE(classifier.abs().max().item<double>(), 2 * head * 1.0001);
}

}  // namespace
}  // namespace seqtrain::model
