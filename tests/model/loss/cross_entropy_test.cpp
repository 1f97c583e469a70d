#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/loss/cross_entropy.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::model {
namespace {

using Numbers = std::vector<double>;

Numbers numbers_in(const json::Value& value) {
  Numbers numbers;
  for (const auto& item : value.items()) numbers.push_back(item.number());
  return numbers;
}

Numbers rows_in(const json::Value& value) {
  Numbers numbers;
  for (const auto& row : value.items()) {
    for (const double number : numbers_in(row)) numbers.push_back(number);
  }
  return numbers;
}

/// A case of the reference implementation.
struct Given {
  explicit Given(const json::Value& value)
      : loss{value.at("smoothing").number()}, logits{rows_in(value.at("logits"))} {
    for (const double label : numbers_in(value.at("labels"))) {
      labels.push_back(static_cast<std::int64_t>(label));
    }
    loss.set_class_weights(numbers_in(value.at("weights")), 3, at::kCPU);
  }

  /// Returns the mean loss of rows `first` to `end` - 1, and adds its gradient times `weight`.
  double accumulate(std::size_t first, std::size_t end, double weight) {
    const at::AutoGradMode with_gradients{true};
    const std::vector<double> some(logits.begin() + 3 * first, logits.begin() + 3 * end);
    const at::Tensor x = at::tensor(some, at::kFloat).view({-1, 3}).set_requires_grad(true);
    const std::vector<std::int64_t> its(labels.begin() + first, labels.begin() + end);
    const at::Tensor mean = loss(x, at::tensor(its, at::kLong));
    mean.backward(at::full_like(mean, weight));
    const at::Tensor its_gradient = x.grad().contiguous();
    const float* const added = its_gradient.const_data_ptr<float>();
    for (std::size_t i = 0; i < some.size(); ++i) gradient[3 * first + i] += added[i];
    return mean.item<double>();
  }

  CrossEntropy loss;
  Numbers logits;
  std::vector<std::int64_t> labels;
  Numbers gradient = Numbers(logits.size());
};

void expect_near(const Numbers& a, const Numbers& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6) << i;
}

template <class Use>
void for_each_case(const Use& use) {
  const auto golden = json::Document::load(tests::golden() / "cross_entropy.json");
  for (const auto& value : golden.root().at("cases").items()) use(value);
}

TEST(CrossEntropy, EqualsTorchs) {
  for_each_case([](const json::Value& value) {
    Given given{value};
    EXPECT_NEAR(given.accumulate(0, 7, 1), value.at("loss").number(), 1e-6);
    expect_near(given.gradient, rows_in(value.at("gradient")));
  });
}

TEST(CrossEntropy, OfPartsByTheirWeightsEqualsThatOfAll) {
  for_each_case([](const json::Value& value) {
    Given given{value};
    const auto weight_of = [&](std::size_t first, std::size_t end) {
      return given.loss.weight_of(std::span{given.labels}.subspan(first, end - first)) /
             given.loss.weight_of(given.labels);
    };
    const double loss = weight_of(0, 3) * given.accumulate(0, 3, weight_of(0, 3)) +
                        weight_of(3, 7) * given.accumulate(3, 7, weight_of(3, 7));
    EXPECT_NEAR(loss, value.at("loss").number(), 1e-6);
    expect_near(given.gradient, rows_in(value.at("gradient")));
  });
}

TEST(CrossEntropy, RefusesWhatAreNoWeights) {
  CrossEntropy loss;
  const auto problem = [&](Numbers weights) {
    return tests::problem_of([&] { loss.set_class_weights(std::move(weights), 2, at::kCPU); });
  };
  EXPECT_EQ(problem({1, 2, 3}), "class_weights: 3 weights for 2 labels");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double weight : {0.0, -1.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(problem({1, weight}), "class_weights: must be numbers above 0");
  }
  EXPECT_EQ(problem({1, 0.5}), "nothing was thrown");
}

TEST(CrossEntropy, RefusesASmoothingOutOfRange) {
  for (const double share : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(CrossEntropy{share}, InputError) << share;
  }
}

}  // namespace
}  // namespace seqtrain::model
