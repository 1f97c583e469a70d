#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/train/evaluate.hpp>

#include "support/fakes.hpp"

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
  metrics::Matthews asked_for_labels;
  const auto report = evaluate(model, loader, {.split = "dev"}, asked_for_labels);
  EXPECT_EQ(report.problem_type, ProblemType::regression);
  EXPECT_EQ(report.examples, 6);
  EXPECT_DOUBLE_EQ(report.loss, (2 * 1 + 6 * 2 + 3 * 3) / 11.0);
  ASSERT_EQ(report.figures.size(), 3U);  // no figure of a metric that takes only labels
  EXPECT_EQ(report.figures[1].name, "pearson");
  EXPECT_NEAR(report.figures[1].value, 1, 1e-12);
}

/// Keeps the answers to each batch.
struct AnswerKeeper {
  void on(const EvalAnswers& event) {
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
  AnswerKeeper keeper;
  (void)evaluate(model, loader, {.split = "test"}, keeper);
  EXPECT_EQ(keeper.splits, (std::vector<std::string>{"test", "test"}));
  EXPECT_EQ(keeper.problem, ProblemType::regression);
  EXPECT_EQ(keeper.logits, (std::vector<float>{1, 5, 2, 1, 5, 2}));
  EXPECT_EQ(keeper.targets, (std::vector<float>{2, 6, 3, 2, 6, 3}));
  EXPECT_EQ(keeper.losses, (std::vector<double>{1, 2, 3, 1, 2, 3}));
  EXPECT_TRUE(keeper.row_ids.empty()) << "these batches do not know where their rows lie";
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

}  // namespace
}  // namespace seqtrain::train
