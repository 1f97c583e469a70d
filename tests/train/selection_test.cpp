#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/train/selection.hpp>

#include "support/fakes.hpp"
#include "support/problem_of.hpp"
#include "support/run_events.hpp"

namespace seqtrain::train {
namespace {

using metrics::ClassificationReport;

std::vector<ClassificationReport> epochs(const std::vector<std::pair<double, double>>& values) {
  std::vector<ClassificationReport> dev;
  for (const auto& [accuracy, loss] : values) {
    dev.push_back({.accuracy = accuracy, .loss = loss, .figures = {{"cost", 10 * loss}}});
  }
  return dev;
}

TEST(Selection, GoesByTheMetricThatIsNamed) {
  const auto dev = epochs({{0.5, 3}, {0.7, 2}, {0.7, 1}, {0.6, 4}});
  EXPECT_EQ(Selection{}.best(dev), 1U);
  EXPECT_EQ((Selection{.metric = "accuracy"}.best(dev)), 1U);
  EXPECT_EQ((Selection{.metric = "loss"}.best(dev)), 2U);
  EXPECT_EQ((Selection{.metric = "cost"}.best(dev)), 3U);
  EXPECT_EQ((Selection{.metric = "cost", .greater_is_better = false}.best(dev)), 2U);
  EXPECT_EQ((Selection{.metric = "loss", .greater_is_better = true}.best(dev)), 3U);
}

TEST(Selection, HasADefaultForEachProblem) {
  EXPECT_EQ(Selection{}.score(tests::some_report()), 0.75);
  const auto numbers = tests::some_report_of_regression();
  EXPECT_EQ(Selection{}.score(numbers), -numbers.loss);
  auto without_loss = numbers;
  without_loss.has_loss = false;
  EXPECT_EQ(Selection{}.score(without_loss), -0.5);
  EXPECT_TRUE(std::isnan(Selection{.metric = "loss"}.score(without_loss)));
  EXPECT_THROW(Selection{.metric = "loss"}.check(without_loss), InputError);
  const auto labels = tests::some_report_of_several_labels();
  EXPECT_EQ(Selection{}.score(labels), metrics::micro_average(labels.confusion).f1);
  EXPECT_EQ(Selection{}.score({.problem_type = ProblemType::language_modeling, .loss = 2}), -2.0);
  const ClassificationReport alone{.problem_type = ProblemType::loss_alone, .loss = 3};
  EXPECT_EQ(Selection{}.score(alone), -3.0);
  EXPECT_EQ(tests::problem_of([&] { Selection{.metric = "accuracy"}.check(alone); }),
            "fit: metric_for_best_model: there is no metric 'accuracy'; use one of: loss");
}

TEST(Selection, TakesNaNForTheWorst) {
  const double nan = std::nan("");
  EXPECT_EQ(Selection{}.best(epochs({{nan, 1}, {0.1, 1}, {nan, 1}})), 1U);
  EXPECT_EQ(Selection{}.best(epochs({{nan, 1}, {nan, 1}})), 0U);
}

TEST(Selection, LosesPatience) {
  const auto dev = epochs({{0.5, 1}, {0.7, 2}, {0.6, 3}});
  EXPECT_FALSE(Selection{}.out_of_patience(dev, 0));
  EXPECT_TRUE(Selection{}.out_of_patience(dev, 1));
  EXPECT_FALSE(Selection{}.out_of_patience(dev, 2));
  EXPECT_TRUE((Selection{.metric = "loss"}.out_of_patience(dev, 2)));
  EXPECT_FALSE(Selection{}.out_of_patience({}, 1));
}

ClassificationReport of_regression(double loss) {
  return {.problem_type = ProblemType::regression, .loss = loss};
}

ClassificationReport of_several_labels(std::int64_t right, std::int64_t missed) {
  metrics::Confusion counts(1, metrics::label_counts);
  counts << 0, 0, missed, right;
  return metrics::make_multi_label_report(counts, 0);
}

TEST(Selection, OfRegressionPicksTheLeastError) {
  const std::vector dev{of_regression(3), of_regression(1), of_regression(1), of_regression(2)};
  EXPECT_EQ(Selection{}.best(dev), 1U);
  EXPECT_TRUE(Selection{}.out_of_patience(dev, 2));
  EXPECT_FALSE(Selection{}.out_of_patience(dev, 3));
  EXPECT_EQ(Selection{}.best(std::vector{of_regression(std::nan("")), of_regression(4)}), 1U);
}

TEST(Selection, OfSeveralLabelsPicksTheHighestF1) {
  EXPECT_EQ(Selection{}.best(std::vector{of_several_labels(1, 3), of_several_labels(3, 1),
                                         of_several_labels(2, 2)}),
            1U);
}

TEST(Selection, RefusesAMetricThatThereIsNot) {
  const auto names_for = [](ProblemType type) {
    const auto empty = metrics::Evaluation{type}.report();
    return tests::problem_of([&] { Selection{.metric = "rouge"}.check(empty); });
  };
  EXPECT_NE(names_for(ProblemType::single_label).find("loss, accuracy, macro_f1"),
            std::string::npos);
  EXPECT_NE(names_for(ProblemType::multi_label).find("macro_f1, micro_f1"), std::string::npos);
  EXPECT_NE(names_for(ProblemType::regression).find("pearson, spearman"), std::string::npos);
  EXPECT_NO_THROW(Selection{}.check(metrics::Evaluation{ProblemType::regression}.report()));
}

tests::FakeModel model_with(double weight) {
  tests::FakeModel model;
  model.load_state_dict(tests::FakeState{{{"w", weight}}}.views());
  return model;
}

TEST(BestModel, KeepsTheParametersOfTheBestEpoch) {
  BestModel best;
  std::vector<metrics::ClassificationReport> dev;
  double weight = 0;
  for (const double accuracy : {0.5, 0.9, 0.7}) {
    dev.push_back({.accuracy = accuracy});
    best.offer(model_with(++weight), dev, {});
  }
  auto model = model_with(9);
  best.apply(model);
  EXPECT_EQ(model.weight(), 2);
}

TEST(BestModel, DoesNothingWhereItIsDisabledOrWithoutEvaluations) {
  BestModel disabled{false}, unused;
  disabled.offer(model_with(1), std::vector<metrics::ClassificationReport>(1), {});
  unused.offer(model_with(1), {}, {});
  auto model = model_with(9);
  disabled.apply(model);
  unused.apply(model);
  EXPECT_EQ(model.weight(), 9);
  EXPECT_TRUE(unused.views().empty());
}

TEST(BestModel, TakesBackWhatACheckpointKept) {
  BestModel best;
  best.restore(tests::FakeState{{{"w", 4.0}}}.views());
  auto model = model_with(9);
  best.apply(model);
  EXPECT_EQ(model.weight(), 4);
  best.clear();
  EXPECT_TRUE(best.views().empty());
}

}  // namespace
}  // namespace seqtrain::train
