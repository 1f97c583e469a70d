#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/make_loss.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::model {
namespace {

using Numbers = std::vector<double>;

/// Adds the numbers of an array of any depth.
void add_numbers(const json::Value& value, Numbers& numbers) {
  if (value.is_number()) return numbers.push_back(value.number());
  for (const auto& item : value.items()) add_numbers(item, numbers);
}

Numbers numbers_in(const json::Value& value) {
  Numbers numbers;
  add_numbers(value, numbers);
  return numbers;
}

/// Some rows of a case of the reference implementation, which has 7.
struct Given {
  explicit Given(const json::Value& value, std::size_t first = 0, std::size_t end = 7)
      : type{*problem_type_named(value.at("problem_type").string())},
        columns{numbers_in(value.at("logits")).size() / 7},
        options{.class_weights = numbers_in(value.at("class_weights")),
                .label_smoothing = value.at("label_smoothing").number(),
                .focal_gamma = value.at("focal_gamma").number()},
        gradient{part(numbers_in(value.at("gradient")), columns, first, end)},
        losses{part(numbers_in(value.at("losses")), 1, first, end)},
        weights{part(numbers_in(value.at("weights")), 1, first, end)},
        mean{value.at("loss").number()} {
    const double delta = value.at("huber_delta").number();
    if (delta > 0) options.huber_delta = delta;
    const Numbers teacher = numbers_in(value.at("teacher"));
    if (!teacher.empty()) {
      options.teacher = {.temperature = value.at("temperature").number(),
                         .share = value.at("share").number()};
    }
    const Numbers truth = numbers_in(value.at("truth"));
    const Numbers its = part(truth, truth.size() / 7, first, end);
    const bool are_labels = truth.size() == 7 && type == ProblemType::single_label;
    batch.rows = static_cast<std::int64_t>(end - first);
    batch.labels.assign(end - first, 0);
    if (are_labels) batch.labels.assign(its.begin(), its.end());
    if (!are_labels) batch.targets.assign(its.begin(), its.end());
    if (!teacher.empty()) {
      const Numbers of_rows = part(teacher, columns, first, end);
      batch.targets.assign(of_rows.begin(), of_rows.end());
    }
    const Numbers x = part(numbers_in(value.at("logits")), columns, first, end);
    logits.resize(batch.rows, static_cast<Eigen::Index>(columns));
    std::copy(x.begin(), x.end(), logits.data());
  }

  static Numbers part(const Numbers& all, std::size_t columns, std::size_t first, std::size_t end) {
    return {all.begin() + static_cast<std::ptrdiff_t>(first * columns),
            all.begin() + static_cast<std::ptrdiff_t>(end * columns)};
  }

  [[nodiscard]] AnyLoss loss() const {
    return make_loss(type, static_cast<std::int64_t>(columns), options);
  }

  /// Returns the mean loss. `got` gets its gradient times `share`.
  double backward(double share, Numbers& got) const {
    const at::AutoGradMode with_gradients{true};
    const at::Tensor x = at::tensor(at::ArrayRef<float>{logits.data(), gradient.size()})
                             .view({batch.rows, -1})
                             .set_requires_grad(true);
    const at::Tensor value = loss().mean(x, tensor::labels_of(batch));
    value.backward(at::full_like(value, share));
    const at::Tensor flat = x.grad().to(at::kDouble).contiguous();
    got.assign(flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel());
    return value.item<double>();
  }

  ProblemType type;
  std::size_t columns;
  LossOptions options;
  Numbers gradient, losses, weights;
  double mean;
  data::Batch batch = {};
  metrics::Logits logits = {};
};

void expect_near(const Numbers& a, const Numbers& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 2e-6 * std::max(1.0, std::abs(b[i]))) << i;
  }
}

template <class Use>
void for_each_case(const Use& use) {
  const auto golden = json::Document::load(tests::golden() / "losses.json");
  const auto cases = golden.root().at("cases").items();
  EXPECT_EQ(cases.size(), 28U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    use(cases[i]);
  }
}

TEST(Loss, EqualsTorchsAndThePapers) {
  for_each_case([](const json::Value& value) {
    const Given given{value};
    Numbers gradient;
    expect_near({given.backward(1, gradient)}, {given.mean});
    expect_near(gradient, given.gradient);
  });
}

TEST(Loss, OfPartsByTheirWeightsEqualsThatOfAll) {
  for_each_case([](const json::Value& value) {
    const Given all{value}, first{value, 0, 3}, rest{value, 3, 7};
    const double whole = all.loss().weight_of(all.batch);
    double mean = 0;
    for (const Given* const given : {&first, &rest}) {
      const double share = given->loss().weight_of(given->batch) / whole;
      Numbers gradient;
      mean += share * given->backward(share, gradient);
      expect_near(gradient, given->gradient);
    }
    expect_near({mean}, {all.mean});
  });
}

TEST(Loss, OfRowsIsWhatTheMeanIsMadeOf) {
  for_each_case([](const json::Value& value) {
    const Given given{value};
    if (std::ranges::count(given.batch.labels, -1) > 0) return;  // the next test
    const auto rows = given.loss().rows(given.logits, given.batch);
    expect_near(rows.losses, given.losses);
    expect_near(rows.weights, given.weights);
    metrics::MeanRowLoss mean;
    mean.add(rows);
    expect_near({mean.value()}, {given.mean});
  });
}

TEST(Loss, OfRowsWithoutALabelIsNan) {
  data::Batch batch;
  batch.rows = 2;
  batch.labels = {-1, 1};
  const metrics::Logits logits = metrics::Logits::Zero(2, 2);
  const auto labels = make_loss(ProblemType::single_label, 2).rows(logits, batch);
  EXPECT_TRUE(std::isnan(labels.losses[0]));
  EXPECT_NEAR(labels.losses[1], std::log(2), 1e-6);
  const float none = std::numeric_limits<float>::quiet_NaN();
  batch.labels = {0, 0};
  batch.targets = {none, none, 1, 0};
  const auto targets = make_loss(ProblemType::multi_label, 2).rows(logits, batch);
  EXPECT_TRUE(std::isnan(targets.losses[0]));
  EXPECT_NEAR(targets.losses[1], std::log(2), 1e-6);
}

TEST(Loss, WithATeacherIsThatOfTheLabelsInAnEvaluation) {
  data::Batch batch;
  batch.rows = 2;
  batch.labels = {1, 0};
  metrics::Logits logits{2, 2};
  logits << 1, 2, 3, 4;
  const LossOptions options{.class_weights = {1, 3}};
  auto taught = options;
  taught.teacher = TeacherOptions{};
  const auto expected = make_loss(ProblemType::single_label, 2, options).rows(logits, batch);
  const auto rows = make_loss(ProblemType::single_label, 2, taught).rows(logits, batch);
  EXPECT_EQ(rows.losses, expected.losses);
  EXPECT_EQ(rows.weights, (std::vector<double>{3, 1}));
}

TEST(Loss, OfAnAnswerThatIsSureAndRightHasAFiniteGradientIfFocal) {
  const at::AutoGradMode with_gradients{true};
  const at::Tensor x =
      at::tensor(std::vector<float>{200, -200}).view({1, 2}).set_requires_grad(true);
  data::Batch batch;
  batch.rows = 1;
  batch.labels = {0};
  const auto loss = make_loss(ProblemType::single_label, 2, {.focal_gamma = 0.5});
  loss.mean(x, tensor::labels_of(batch)).backward();
  EXPECT_EQ(x.grad().abs().sum().item<double>(), 0);
}

/// A loss of one's own: the absolute error.
struct AbsoluteError {
  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    return (logits - batch.targets).abs().mean(1);
  }
};

static_assert(Loss<AbsoluteError> && !WeightedLoss<AbsoluteError> && WeightedLoss<CrossEntropy>);
static_assert(!Loss<int>);

TEST(Loss, OfOnesOwnCountsRows) {
  data::Batch batch;
  batch.rows = 2;
  batch.labels = {0, 0};
  batch.targets = {1, -1};
  const metrics::Logits logits = metrics::Logits::Constant(2, 1, 0.5F);
  const AnyLoss loss = AbsoluteError{};
  EXPECT_EQ(loss.rows(logits, batch).losses, (Numbers{0.5, 1.5}));
  EXPECT_EQ(loss.weight_of(batch), 2);
}

TEST(Loss, RefusesAFunctionThatDoesNotReturnANumberForEachRow) {
  data::Batch batch;
  batch.rows = 2;
  batch.labels = {0, 0};
  const auto problem = [&](const AnyLoss& loss) {
    return tests::problem_of([&] { (void)loss.rows(metrics::Logits::Zero(2, 3), batch); });
  };
  const auto expected = [](const std::string& form) {
    return "loss: must return the loss of each of 2 rows, floating-point numbers of the shape [2], "
           "but returns " +
           form;
  };
  using Logits = at::Tensor;
  using Batch = tensor::Batch;
  EXPECT_EQ(problem([](const Logits& logits, const Batch&) { return logits.mean(); }),
            expected("a tensor of the shape []"));
  EXPECT_EQ(problem([](const Logits& logits, const Batch&) { return logits.abs(); }),
            expected("a tensor of the shape [2, 3]; take the mean over the labels only"));
  EXPECT_EQ(problem([](const Logits& logits, const Batch&) { return logits.argmax(1); }),
            expected("numbers of the type Long"));
  EXPECT_EQ(problem([](const Logits&, const Batch&) { return at::Tensor{}; }),
            expected("no tensor"));
}

TEST(Loss, RefusesNumbersWithoutAGradientInTraining) {
  const AnyLoss loss = [](const at::Tensor& logits, const tensor::Batch&) {
    return logits.detach().mean(1);
  };
  data::Batch batch;
  batch.rows = 2;
  batch.labels = {0, 0};
  EXPECT_EQ(loss.rows(metrics::Logits::Zero(2, 2), batch).losses, (Numbers{0, 0}));
  const at::Tensor logits = at::zeros({2, 2}, at::kFloat).requires_grad_();
  EXPECT_EQ(tests::problem_of([&] { (void)loss.mean(logits, tensor::labels_of(batch)); }),
            "loss: returns numbers without a gradient; compute them from the logits by operators "
            "that autograd can differentiate");
}

TEST(Loss, OfCertainSoftLabelsIsThatOfTheLabels) {
  data::Batch hard, soft;
  hard.rows = soft.rows = 2;
  hard.labels = soft.labels = {0, 1};
  soft.targets = {1, 0, 0, 1};
  metrics::Logits logits(2, 2);
  logits << 1, -1, 2, 0.5F;
  const auto loss = make_loss(ProblemType::single_label, 2, {.class_weights = {1, 10}});
  expect_near(loss.rows(logits, soft).losses, loss.rows(logits, hard).losses);
  expect_near(loss.rows(logits, soft).weights, {1, 10});
}

TEST(Loss, IfFocalRefusesSmoothingAndSoftLabels) {
  EXPECT_EQ(tests::problem_of([] {
              (void)make_loss(ProblemType::single_label, 2,
                              {.label_smoothing = 0.1, .focal_gamma = 2});
            }),
            "loss: focal_gamma: does not go with label_smoothing");
  data::Batch soft;
  soft.rows = 1;
  soft.labels = {0};
  soft.targets = {0.5F, 0.5F};
  const auto loss = make_loss(ProblemType::single_label, 2, {.focal_gamma = 2});
  EXPECT_EQ(tests::problem_of([&] { (void)loss.rows(metrics::Logits::Zero(1, 2), soft); }),
            "loss: focal_gamma: does not go with soft labels");
}

/// A loss with one weight for all rows.
struct OneWeight : AbsoluteError {
  at::Tensor weights(const tensor::Batch&) const { return at::ones({1}); }
};

TEST(Loss, RefusesAnotherNumberOfWeightsThanRows) {
  data::Batch batch;
  batch.rows = 2;
  batch.labels = {0, 0};
  batch.targets = {1, 2};
  const AnyLoss loss = OneWeight{};
  EXPECT_EQ(tests::problem_of([&] { (void)loss.weight_of(batch); }),
            "loss: must return the weight of each of 2 rows, floating-point numbers of the shape "
            "[2], but returns a tensor of the shape [1]");
}

TEST(Loss, OfASureAndRightAnswerIsZeroWithoutASign) {
  data::Batch batch;
  batch.rows = 1;
  batch.labels = {0};
  metrics::Logits logits(1, 2);
  logits << 200, 0;
  const auto rows = make_loss(ProblemType::single_label, 2).rows(logits, batch);
  EXPECT_FALSE(std::signbit(rows.losses[0]));
}

TEST(Loss, RefusesWhatAreNoWeights) {
  const auto problem = [](const Numbers& weights) {
    return tests::problem_of(
        [&] { (void)make_loss(ProblemType::single_label, 2, {.class_weights = weights}); });
  };
  EXPECT_EQ(problem({1, 2, 3}), "loss: class_weights: 3 weights for 2 labels");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double weight : {0.0, -1.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(problem({1, weight}), "loss: class_weights: must be numbers above 0");
  }
  EXPECT_EQ(problem({1, 0.5}), "nothing was thrown");
}

TEST(Loss, RefusesNumbersOutOfRangeAndOptionsOfOtherProblems) {
  const auto problem = [](ProblemType type, const LossOptions& options) {
    return tests::problem_of([&] { options.validate(type); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double number : {-0.1, 1.1, nan}) {
    EXPECT_EQ(problem(ProblemType::single_label, {.label_smoothing = number}),
              "loss: label_smoothing: must be at least 0 and at most 1");
  }
  for (const double number : {-0.1, nan}) {
    EXPECT_EQ(problem(ProblemType::single_label, {.focal_gamma = number}),
              "loss: focal_gamma: must be a number, not negative");
    EXPECT_EQ(problem(ProblemType::regression, {.huber_delta = number}),
              "loss: huber_delta: must be a number above 0");
  }
  EXPECT_EQ(problem(ProblemType::single_label, {.teacher = TeacherOptions{.temperature = 0}}),
            "loss: temperature: must be a number above 0");
  EXPECT_EQ(problem(ProblemType::single_label, {.teacher = TeacherOptions{.share = 1.1}}),
            "loss: share: must be at least 0 and at most 1");
  EXPECT_EQ(problem(ProblemType::multi_label, {.teacher = TeacherOptions{}}),
            "loss: teacher: does not go with multi_label_classification");
  EXPECT_EQ(problem(ProblemType::multi_label, {.label_smoothing = 0.1}),
            "loss: label_smoothing: does not go with multi_label_classification");
  EXPECT_EQ(problem(ProblemType::regression, {.class_weights = {2}}),
            "loss: class_weights: does not go with regression");
  EXPECT_EQ(problem(ProblemType::regression, {.focal_gamma = 2}),
            "loss: focal_gamma: does not go with regression");
  EXPECT_EQ(problem(ProblemType::single_label, {.huber_delta = 1}),
            "loss: huber_delta: does not go with single_label_classification");
}

}  // namespace
}  // namespace seqtrain::model
