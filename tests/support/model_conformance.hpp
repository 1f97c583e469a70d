#pragma once

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/sub.h>
#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/tensor/parameter.hpp>

#include "support/one_thread.hpp"

namespace seqtrain::tests {

/// The conformance suite for models of tensors. `Subject` has static `make(dropout, seed)`, which
/// returns a model, and `batch(index)`; the model takes batches 0 and 1. Equal arguments give equal
/// results. Instantiate with INSTANTIATE_TYPED_TEST_SUITE_P(Name, ModelConformance, Subject).
template <class Subject>
class ModelConformance : public testing::Test {
 protected:
  using M = decltype(Subject::make(0.0, 0));

  OneThread one_thread_;

  /// Returns the result of an evaluation: a classifier's logits, else the loss.
  template <class B>
  static auto evaluate(M& model, const B& batch) {
    if constexpr (Classifier<M>) {
      return model.logits(batch);
    } else {
      return model.evaluate(batch);
    }
  }

  static std::vector<at::Tensor> gradients(const M& model) {
    std::vector<at::Tensor> result;
    for (const auto& parameter : model.parameters()) result.push_back(parameter.gradient.clone());
    return result;
  }

  static void expect_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal(b[i])) << i;
  }

  static void expect_near(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_LT(a[i].sub(b[i]).abs().max().template item<double>(), 1e-5) << i;
    }
  }
};

TYPED_TEST_SUITE_P(ModelConformance);

TYPED_TEST_P(ModelConformance, SatisfiesTheConcept) {
  using Tested = typename TestFixture::M;
  static_assert(Model<Tested> && (Classifier<Tested> || seqtrain::LanguageModel<Tested>));
  static_assert(OptimizerFor<optim::Adam, Tested>);
}

TYPED_TEST_P(ModelConformance, NamesParametersAndBeginsWithoutGradients) {
  const auto model = TypeParam::make(0.1, 1);
  std::set<std::string> names;
  for (const auto& parameter : model.parameters()) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    ASSERT_TRUE(parameter.gradient.defined()) << parameter.name;
    EXPECT_EQ(parameter.gradient.sizes(), parameter.value.sizes()) << parameter.name;
    EXPECT_EQ(parameter.gradient.count_nonzero().template item<std::int64_t>(), 0)
        << parameter.name;
  }
  EXPECT_FALSE(names.empty());
}

TYPED_TEST_P(ModelConformance, AccumulatesByWeight) {
  auto whole = TypeParam::make(0, 1);
  auto halves = TypeParam::make(0, 1);
  const auto batch = TypeParam::batch(0);
  const auto loss = static_cast<double>(whole.accumulate(batch, 1));
  EXPECT_TRUE(std::isfinite(loss));
  EXPECT_EQ(static_cast<double>(halves.accumulate(batch, 0.5)), loss);
  halves.accumulate(batch, 0.5);
  this->expect_near(this->gradients(whole), this->gradients(halves));
}

TYPED_TEST_P(ModelConformance, EvaluatesWithoutATrace) {
  auto model = TypeParam::make(0.5, 1);
  const auto batch = TypeParam::batch(0);
  model.accumulate(batch, 1);
  const auto before = this->gradients(model);
  const auto first = this->evaluate(model, batch);
  EXPECT_EQ(this->evaluate(model, batch), first);
  this->expect_equal(before, this->gradients(model));
}

TYPED_TEST_P(ModelConformance, NeedsNoLabelsForItsLogits) {
  if constexpr (Classifier<typename TestFixture::M>) {
    auto model = TypeParam::make(0, 1);
    auto batch = TypeParam::batch(0);
    const auto logits = model.logits(batch);
    EXPECT_EQ(logits.rows(), batch.rows);
    batch.labels.assign(batch.labels.size(), -1);
    EXPECT_EQ(model.logits(batch), logits);
  }
}

TYPED_TEST_P(ModelConformance, LearnsWhatItIsShown) {
  auto model = TypeParam::make(0, 1);
  optim::Adam optimizer{{.lr = 1e-2}};
  const auto batch = TypeParam::batch(0);
  const auto first = static_cast<double>(model.accumulate(batch, 1));
  for (int step = 0; step < 50; ++step) {
    optimizer.step(model.parameters(), {});
    model.accumulate(batch, 1);
  }
  EXPECT_LT(static_cast<double>(model.accumulate(batch, 1)), 0.5 * first);
}

TYPED_TEST_P(ModelConformance, RepeatsBitForBit) {
  auto one = TypeParam::make(0.3, 7);
  auto two = TypeParam::make(0.3, 7);
  optim::Adam first;
  optim::Adam second;
  for (int step = 0; step < 3; ++step) {
    const auto batch = TypeParam::batch(step % 2);
    EXPECT_EQ(static_cast<double>(one.accumulate(batch, 1)),
              static_cast<double>(two.accumulate(batch, 1)));
    this->expect_equal(this->gradients(one), this->gradients(two));
    first.step(one.parameters(), {});
    second.step(two.parameters(), {});
  }
}

TYPED_TEST_P(ModelConformance, WorksAfterAMove) {
  auto model = TypeParam::make(0, 1);
  const auto batch = TypeParam::batch(0);
  const auto before = this->evaluate(model, batch);
  auto moved = std::move(model);
  EXPECT_EQ(this->evaluate(moved, batch), before);
  moved.accumulate(batch, 1);
  double norm = 0;
  for (const auto& gradient : this->gradients(moved))
    norm += gradient.norm().template item<double>();
  EXPECT_GT(norm, 0);
}

REGISTER_TYPED_TEST_SUITE_P(ModelConformance, SatisfiesTheConcept,
                            NamesParametersAndBeginsWithoutGradients, AccumulatesByWeight,
                            EvaluatesWithoutATrace, NeedsNoLabelsForItsLogits, LearnsWhatItIsShown,
                            RepeatsBitForBit, WorksAfterAMove);

}  // namespace seqtrain::tests
