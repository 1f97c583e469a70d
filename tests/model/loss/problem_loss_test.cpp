#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/loss/problem_loss.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::model {
namespace {

at::Tensor floats_in(const json::Value& value) {
  std::vector<double> numbers;
  for (const auto& row : value.items()) {
    for (const auto& number : row.items()) numbers.push_back(number.number());
  }
  const auto rows = static_cast<std::int64_t>(value.items().size());
  return at::tensor(numbers, at::kFloat).view({rows, -1});
}

/// Returns the loss of rows `first` to `end` - 1 of a case, and its gradient times `weight`.
std::pair<double, at::Tensor> loss_and_gradient(const json::Value& given, std::int64_t first,
                                                std::int64_t end, double weight) {
  const at::AutoGradMode with_gradients{true};
  const ProblemLoss loss{*problem_type_named(given.at("problem_type").string()), 0};
  const at::Tensor x =
      floats_in(given.at("logits")).slice(0, first, end).clone().set_requires_grad(true);
  tensor::Batch batch;
  batch.targets = floats_in(given.at("targets")).slice(0, first, end);
  const at::Tensor mean = loss(x, batch);
  mean.backward(at::full_like(mean, weight));
  return {mean.item<double>(), x.grad()};
}

double largest_gap(const at::Tensor& gradient, const json::Value& given, std::int64_t first,
                   std::int64_t end) {
  const at::Tensor expected = floats_in(given.at("gradient")).slice(0, first, end);
  return gradient.sub(expected).abs().max().item<double>();
}

template <class Use>
void for_each_loss(const Use& use) {
  const auto golden = json::Document::load(tests::golden() / "problem_loss.json");
  for (const auto& given : golden.root().at("cases").items()) use(given);
}

TEST(ProblemLoss, EqualsTorchs) {
  for_each_loss([](const json::Value& given) {
    const auto [loss, gradient] = loss_and_gradient(given, 0, 7, 1);
    const double expected = given.at("loss").number();
    EXPECT_NEAR(loss, expected, 1e-6 * expected);
    EXPECT_LT(largest_gap(gradient, given, 0, 7), 1e-6);
  });
}

TEST(ProblemLoss, OfPartsByTheirRowsEqualsThatOfAll) {
  for_each_loss([](const json::Value& given) {
    const auto [a, of_a] = loss_and_gradient(given, 0, 3, 3.0 / 7);
    const auto [b, of_b] = loss_and_gradient(given, 3, 7, 4.0 / 7);
    const double expected = given.at("loss").number();
    EXPECT_NEAR((3 * a + 4 * b) / 7, expected, 1e-6 * expected);
    EXPECT_LT(largest_gap(of_a, given, 0, 3), 1e-6);
    EXPECT_LT(largest_gap(of_b, given, 3, 7), 1e-6);
  });
  data::Batch batch;
  batch.labels = {0, 0, 0};
  EXPECT_EQ((ProblemLoss{ProblemType::regression, 0}.weight_of(batch)), 3);
}

TEST(ProblemLoss, HasNoWeightsAndNoSmoothingWhereTargetsAreNoLabels) {
  for (const auto type : {ProblemType::regression, ProblemType::multi_label}) {
    const std::string problem = "does not go with " + std::string{name(type)};
    EXPECT_EQ(tests::problem_of([&] { ProblemLoss{type, 0.1}; }), "label_smoothing: " + problem);
    EXPECT_EQ(tests::problem_of([&] {
                ProblemLoss{type, 0}.set_class_weights({1, 2}, 2, at::kCPU);
              }),
              "class_weights: " + problem);
  }
  EXPECT_NO_THROW((ProblemLoss{ProblemType::single_label, 0.1}));
}

}  // namespace
}  // namespace seqtrain::model
