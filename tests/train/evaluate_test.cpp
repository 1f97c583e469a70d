#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/train/evaluate.hpp>

#include "support/fakes.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::train {
namespace {

struct NumberBatch : tests::FakeBatch {
  std::vector<float> targets;
};

/// A model that predicts x for each example, whose truth is x + 1.
struct NumberModel : tests::FakeModel {
  using batch_type = NumberBatch;

  tests::FakeLoss accumulate(const NumberBatch&, double) { return {0}; }
  metrics::Logits logits(const NumberBatch& batch) {
    metrics::Logits result(batch.rows, 1);
    for (Eigen::Index row = 0; row < batch.rows; ++row) {
      result(row, 0) = static_cast<float>(batch.x[static_cast<std::size_t>(row)]);
    }
    return result;
  }
  /// Each row's loss is its index plus 1, its weight the target.
  [[nodiscard]] metrics::RowLosses losses(const metrics::Logits&, const NumberBatch& batch) const {
    return {.losses = {1, 2, 3}, .weights = {batch.targets.begin(), batch.targets.end()}};
  }
  [[nodiscard]] ProblemType problem_type() const { return ProblemType::regression; }
};

struct NumberLoader {
  using batch_type = NumberBatch;

  [[nodiscard]] std::vector<NumberBatch> epoch(std::int64_t) const {
    NumberBatch batch{{.rows = 3, .x = {1, 5, 2}, .labels = {0, 0, 0}}, {2, 6, 3}};
    return {batch, batch};
  }
  [[nodiscard]] std::int64_t batches_in(std::int64_t) const { return 2; }
  [[nodiscard]] std::int64_t examples() const { return 6; }
};

/// A model whose second example of each batch has no finite logit.
struct SpoiledModel : NumberModel {
  metrics::Logits logits(const NumberBatch& batch) {
    auto result = NumberModel::logits(batch);
    result(1, 0) = std::numeric_limits<float>::quiet_NaN();
    return result;
  }
};

struct Warnings {
  void on(const Notice& notice) {
    if (notice.warning) texts.emplace_back(notice.text);
  }
  std::vector<std::string> texts = {};
};

TEST(Evaluate, WarnsOfLogitsThatAreNotFinite) {
  NumberModel model;
  SpoiledModel spoiled;
  NumberLoader loader;
  Warnings warnings;
  evaluate(model, loader, {.split = "dev"}, warnings);
  EXPECT_TRUE(warnings.texts.empty());
  evaluate(spoiled, loader, {.split = "dev"}, warnings);
  EXPECT_EQ(warnings.texts,
            std::vector<std::string>{"dev: the model computes a logit that is not a finite number "
                                     "for 2 examples; the figures take any label for theirs"});
}

TEST(Evaluate, HasTheFiguresOfTheModelsProblem) {
  NumberModel model;
  NumberLoader loader;
  metrics::Matthews leaves_numbers_out;
  const auto report = evaluate(model, loader, {.split = "dev"}, leaves_numbers_out);
  EXPECT_EQ(report.problem_type, ProblemType::regression);
  EXPECT_EQ(report.examples, 6);
  EXPECT_DOUBLE_EQ(report.loss, (2 * 1 + 6 * 2 + 3 * 3) / 11.0);
  ASSERT_EQ(report.figures.size(), 3U);
  EXPECT_EQ(report.figures[1].name, "pearson");
  EXPECT_NEAR(report.figures[1].value, 1, 1e-12);
}

/// A metric: the largest distance between an answer and its target.
struct LargestError {
  static constexpr std::string_view name = "largest_error";

  void add(const metrics::Logits& logits, std::span<const float> targets) {
    for (std::size_t row = 0; row < targets.size(); ++row) {
      const float answer = logits(static_cast<Eigen::Index>(row), 0);
      largest = std::max(largest, std::abs(static_cast<double>(answer - targets[row])));
    }
  }
  void merge(const LargestError& other) { largest = std::max(largest, other.largest); }
  [[nodiscard]] double value() const { return largest; }

  double largest = 0;
};

/// A metric: the number of examples with labels and the number of those with targets.
struct Counts {
  static constexpr std::string_view name = "counts";

  void add(const metrics::Logits&, std::span<const std::int64_t> ids) { labels += ids.size(); }
  void add(const metrics::Logits&, std::span<const float> numbers) { targets += numbers.size(); }
  void merge(const Counts& other) { labels += other.labels, targets += other.targets; }
  [[nodiscard]] double value() const { return static_cast<double>(100 * labels + targets); }

  std::size_t labels = 0, targets = 0;
};

/// A metric that counts labels only and does not say for which problem types.
struct Labels {
  static constexpr std::string_view name = "labels";

  void add(const metrics::Logits&, std::span<const std::int64_t> ids) { count += ids.size(); }
  void merge(const Labels& other) { count += other.count; }
  [[nodiscard]] double value() const { return static_cast<double>(count); }

  std::size_t count = 0;
};

/// A `NumberModel` of another problem type.
struct ModelOfType : NumberModel {
  ProblemType type = ProblemType::single_label;
  metrics::Logits logits(const NumberBatch& batch) { return metrics::Logits::Ones(batch.rows, 2); }
  [[nodiscard]] ProblemType problem_type() const { return type; }
};

TEST(Evaluate, ComputesMetricsOfTargets) {
  NumberModel model;
  NumberLoader loader;
  const LargestError largest;
  const Counts counts;
  const auto report = evaluate(model, loader, {.split = "dev"}, largest, counts);
  ASSERT_EQ(report.figures.size(), 5U);
  EXPECT_EQ(report.figures[2].name, "spearman");
  EXPECT_EQ(report.figures[3].name, "largest_error");
  EXPECT_EQ(report.figures[3].value, 1);
  EXPECT_EQ(report.figures[4].value, 6);
}

TEST(Evaluate, GivesAMetricTheLabelsOrTheTargets) {
  ModelOfType model;
  NumberLoader loader;
  const Counts counts;
  EXPECT_EQ(evaluate(model, loader, {.split = "dev"}, counts).figures.at(0).value, 600);
}

TEST(Evaluate, RefusesAMetricThatCannotCountTheExamples) {
  NumberLoader loader;
  NumberModel numbers;
  const Labels labels;
  const std::string problem =
      "metric 'labels': counts labels, but the model's examples have targets; give it an "
      "add(logits, std::span<const float> targets), or leave it out";
  EXPECT_EQ(tests::problem_of([&] { evaluate(numbers, loader, {.split = "dev"}, labels); }),
            problem);
  EXPECT_EQ(tests::problem_of([&] { (void)empty_report(numbers, labels); }), problem);
  ModelOfType several;
  several.type = ProblemType::multi_label;
  EXPECT_EQ(tests::problem_of([&] { (void)empty_report(several, labels); }), problem);
  ModelOfType one;
  const LargestError largest;
  EXPECT_EQ(tests::problem_of([&] { (void)empty_report(one, largest); }),
            "metric 'largest_error': counts targets, but the model's examples have labels; give it "
            "an add(logits, std::span<const std::int64_t> labels), or leave it out");
}

/// Keeps the answers to each batch.
struct KeptPredictions {
  void on(const EvalPredictions& event) {
    splits.emplace_back(event.split);
    problem = event.problem_type;
    for (Eigen::Index row = 0; row < event.logits.rows(); ++row) {
      logits.push_back(event.logits(row, 0));
    }
    targets.insert(targets.end(), event.targets.begin(), event.targets.end());
    row_ids.insert(row_ids.end(), event.row_ids.begin(), event.row_ids.end());
    losses.insert(losses.end(), event.losses.begin(), event.losses.end());
  }
  std::vector<std::string> splits = {};
  ProblemType problem = ProblemType::single_label;
  std::vector<float> logits = {};
  std::vector<float> targets = {};
  std::vector<std::int64_t> row_ids = {};
  std::vector<double> losses = {};
};

TEST(Evaluate, TellsObserversTheAnswersOfEachBatch) {
  NumberModel model;
  NumberLoader loader;
  KeptPredictions checkpointer;
  (void)evaluate(model, loader, {.split = "test"}, checkpointer);
  EXPECT_EQ(checkpointer.splits, (std::vector<std::string>{"test", "test"}));
  EXPECT_EQ(checkpointer.problem, ProblemType::regression);
  EXPECT_EQ(checkpointer.logits, (std::vector<float>{1, 5, 2, 1, 5, 2}));
  EXPECT_EQ(checkpointer.targets, (std::vector<float>{2, 6, 3, 2, 6, 3}));
  EXPECT_EQ(checkpointer.losses, (std::vector<double>{1, 2, 3, 1, 2, 3}));
  EXPECT_TRUE(checkpointer.row_ids.empty()) << "these batches do not know where their rows lie";
}

/// A model that tells one loss for a batch.
struct ShortModel : NumberModel {
  [[nodiscard]] metrics::RowLosses losses(const metrics::Logits&, const NumberBatch&) const {
    return {.losses = {1}, .weights = {1}};
  }
};

TEST(Evaluate, RefusesLossesThatAreNotOneForEachRow) {
  ShortModel model;
  NumberLoader loader;
  EXPECT_THROW((void)evaluate(model, loader, {.split = "dev"}), Error);
}

/// A model that answers up to three batches at once.
struct WindowModel : NumberModel {
  [[nodiscard]] std::int64_t logits_window() const { return 3; }
  std::vector<metrics::Logits> logits_of(std::span<const NumberBatch> batches) {
    sizes.push_back(batches.size());
    std::vector<metrics::Logits> result;
    for (const auto& batch : batches) result.push_back(logits(batch));
    return result;
  }
  std::vector<std::size_t> sizes = {};
};

struct LongLoader : NumberLoader {
  [[nodiscard]] std::vector<NumberBatch> epoch(std::int64_t) const {
    return std::vector<NumberBatch>(7, NumberLoader::epoch(0).front());
  }
  [[nodiscard]] std::int64_t batches_in(std::int64_t) const { return 7; }
};

TEST(Evaluate, AsksForSeveralBatchesAtOnceIfTheModelTakesThem) {
  WindowModel model;
  LongLoader loader;
  const auto report = evaluate(model, loader, {.split = "dev"});
  EXPECT_EQ(model.sizes, (std::vector<std::size_t>{3, 3, 1}));
  EXPECT_EQ(report.examples, 21);
  EXPECT_DOUBLE_EQ(report.loss, 23 / 11.0);
}

TEST(Evaluate, GivesALanguageModelItsPerplexity) {
  using tests::WordModel;
  static_assert(LanguageModel<WordModel> && !Classifier<WordModel>);
  WordModel model;
  tests::FakeLoader loader{{1, 2, 3, 4, 5}, 2};
  const auto report = evaluate(model, loader, {.split = "dev"});
  EXPECT_EQ(report.problem_type, ProblemType::language_modeling);
  EXPECT_EQ(report.examples, 15);      // tokens
  EXPECT_NEAR(report.loss, 3, 1e-12);  // batches weigh by their tokens
  EXPECT_EQ(report.figures.at(0).name, "perplexity");
  EXPECT_NEAR(report.figures[0].value, std::exp(3), 1e-9);
  EXPECT_EQ(empty_report(model).figures.at(0).name, "perplexity");
}

/// A regression whose second output is for metrics alone.
struct TwoOutputs : NumberModel {
  metrics::Logits logits(const NumberBatch& batch) {
    metrics::Logits outputs(batch.rows, 2);
    outputs.col(0) = NumberModel::logits(batch).col(0);
    outputs.col(1).setConstant(7);
    return outputs;
  }
};

struct SecondOutput {
  static constexpr std::string_view name = "second";
  void add(const metrics::Logits& outputs, std::span<const float>) { last = outputs(0, 1); }
  void merge(const SecondOutput& other) { last = other.last; }
  [[nodiscard]] double value() const { return last; }
  float last = 0;
};

TEST(Evaluate, LeavesFurtherOutputsOfARegressionToMetrics) {
  NumberModel one;
  TwoOutputs model;
  NumberLoader loader;
  std::int64_t columns = 0;
  struct Columns {
    void on(const EvalPredictions& event) { *columns = event.logits.cols(); }
    std::int64_t* columns;
  } observer{&columns};
  SecondOutput second;
  const auto expected = evaluate(one, loader, {.split = "dev"});
  const auto report = evaluate(model, loader, {.split = "dev"}, second, observer);
  EXPECT_EQ(columns, 1);
  ASSERT_EQ(report.figures.size(), expected.figures.size() + 1);
  for (std::size_t i = 0; i < expected.figures.size(); ++i) {
    EXPECT_EQ(report.figures[i].value, expected.figures[i].value);
  }
  EXPECT_EQ(report.figures.back().value, 7);
}

TEST(Evaluate, GivesAModelWithoutPredictionsItsLossAlone) {
  using tests::LossModel;
  static_assert(ScoredByLoss<LossModel> && !Classifier<LossModel> && !LanguageModel<LossModel>);
  LossModel model;
  tests::FakeLoader loader{{1, -2, 3, 4, 5}, 2};
  int predictions = 0;
  struct Counter {
    void on(const EvalPredictions&) { ++*count; }
    int* count;
  } counter{&predictions};
  const auto report = evaluate(model, loader, {.split = "dev"}, counter);
  EXPECT_EQ(report.problem_type, ProblemType::loss_alone);
  EXPECT_EQ(report.examples, 5);
  EXPECT_DOUBLE_EQ(report.loss, 3);
  EXPECT_TRUE(report.figures.empty());
  EXPECT_TRUE(std::isnan(report.accuracy));
  EXPECT_EQ(predictions, 0);
}

/// A model that computes the losses of up to two batches at once, too few if it is told so.
struct LossWindows : tests::LossModel {
  [[nodiscard]] static std::int64_t losses_window() { return 2; }
  std::vector<metrics::RowLosses> losses_of(std::span<const tests::FakeBatch> batches) {
    sizes.push_back(batches.size());
    std::vector<metrics::RowLosses> result;
    for (const auto& batch : batches) result.push_back(losses(batch));
    if (too_few) result.front().losses.pop_back();
    return result;
  }
  bool too_few = false;
  std::vector<std::size_t> sizes = {};
};

TEST(Evaluate, TakesTheLossesOfSeveralBatchesAtOnce) {
  LossWindows model;
  tests::FakeLoader loader{{1, -2, 3, 4, 5}, 2};
  EXPECT_DOUBLE_EQ(evaluate(model, loader, {.split = "dev"}).loss, 3);
  EXPECT_EQ(model.sizes, (std::vector<std::size_t>{2, 1}));
  model.too_few = true;
  EXPECT_EQ(tests::problem_of([&] { (void)evaluate(model, loader, {.split = "dev"}); }),
            "the model tells 1 losses and 2 weights of 2 rows");
}

}  // namespace
}  // namespace seqtrain::train
