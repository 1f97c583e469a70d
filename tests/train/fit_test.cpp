#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/train/fit.hpp>

#include "support/fakes.hpp"
#include "support/problem_of.hpp"
#include "support/run_events.hpp"

namespace seqtrain::train {
namespace {

const std::function<std::span<const weights::TensorView>(std::string_view)> nothing_saved =
    [](std::string_view) { return std::span<const weights::TensorView>{}; };

struct FitTest : testing::Test {
  tests::FakeModel model;
  tests::FakeLoader loader{{1, 2, 3}, 2};
  tests::FakeLoader dev{{1, -1}, 2};
  const FitOptions defaults{};
};

TEST_F(FitTest, RefusesToChooseAnEpochWithoutADevLoader) {
  BestModel best, disabled{false};
  const auto problem = [&](const FitOptions& options, auto&... parts) {
    EXPECT_THROW((void)begin_fit(options, model, loader, parts...), InputError);
    return tests::problem_of([&] { (void)begin_fit(options, model, loader, parts...); });
  };
  const std::string expected = "the best epoch and early stopping need a dev loader";
  EXPECT_NE(problem({}, best).find(expected), std::string::npos);
  EXPECT_NE(problem({.early_stopping_patience = 1}).find(expected), std::string::npos);
  EXPECT_NE(problem({.metric_for_best_model = "loss"}).find(expected), std::string::npos);
  EXPECT_NO_THROW((void)begin_fit({}, model, loader, disabled));
}

TEST_F(FitTest, RefusesAMetricThatThereIsNot) {
  const FitOptions options{.metric_for_best_model = "rouge"};
  EXPECT_THROW((void)begin_fit(options, model, loader, dev), InputError);
  const auto problem = tests::problem_of([&] { (void)begin_fit(options, model, loader, dev); });
  EXPECT_NE(problem.find("there is no metric 'rouge'"), std::string::npos) << problem;
  EXPECT_NE(problem.find("loss, accuracy, macro_f1"), std::string::npos) << problem;
}

TEST_F(FitTest, RefusesToTrainOnNothing) {
  tests::FakeLoader empty{{}, 2};
  EXPECT_THROW((void)begin_fit({}, model, empty), InputError);
}

TEST_F(FitTest, ForgetsTheBestModelOfAnEarlierFit) {
  BestModel best;
  best.restore(tests::FakeState{{{"w", 4.0}}}.views());
  (void)begin_fit(defaults, model, loader, dev, best);
  EXPECT_TRUE(best.views().empty());
}

TEST_F(FitTest, PlansItsLength) {
  const FitOptions options{.epochs = 3};
  const auto fit = begin_fit(options, model, loader);
  EXPECT_EQ(fit.length.steps, 6);
  EXPECT_EQ(fit.plan().steps, 6);
  EXPECT_EQ(fit.begin_event().examples, 3);
}

TEST_F(FitTest, AResumedFitMustHaveTheSameDataAndBestModel) {
  const auto value = [](const FitPlan& plan, std::string_view wanted) {
    for (const auto& [name, text] : plan.settings) {
      if (name == wanted) return text;
    }
    return std::string{"none"};
  };
  BestModel best;
  const FitOptions options{.max_grad_norm = 0.5};
  const auto plain = begin_fit(options, model, loader).plan();
  EXPECT_EQ(value(plain, "examples"), "3");
  EXPECT_EQ(value(plain, "best_model"), "false");
  EXPECT_EQ(value(plain, "max_grad_norm"), "0.5");
  EXPECT_EQ(value(begin_fit(options, model, loader, dev, best).plan(), "best_model"), "true");
}

TEST_F(FitTest, AnEpochIsDoneWhenItIsEvaluated) {
  const FitOptions options{.epochs = 1};
  auto fit = begin_fit(options, model, loader);
  const std::vector<tests::FakeBatch> batches = loader.epoch(0);
  fit.count_step(std::span{batches}.subspan(0, 1), {}, tests::no_loss);
  EXPECT_FALSE(fit.is_done());
  fit.count_step(std::span{batches}.subspan(1, 1), {}, tests::no_loss);
  EXPECT_EQ(fit.state.position, (Position{.epoch = 0, .batch = 2, .step = 2}));
  EXPECT_FALSE(fit.is_done());
  fit.end_epoch(model);
  EXPECT_EQ(fit.state.position, (Position{.epoch = 1, .batch = 0, .step = 2}));
  EXPECT_TRUE(fit.is_done());
}

TEST_F(FitTest, CountsAStepThatIsSkipped) {
  const FitOptions options{.epochs = 1, .on_nonfinite = OnNonfinite::skip};
  auto fit = begin_fit(options, model, loader);
  const std::vector<tests::FakeBatch> batches = loader.epoch(0);
  fit.count_step(std::span{batches}.subspan(0, 1), optim::Outcome::not_taken("bad"),
                 tests::no_loss);
  const auto skipped = fit.watch.settle();
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->problem,
            "epoch 1, step 1, loss 0.000000, 2 rows: bad; the step was not taken");
  const StepSkipped event = fit.count_skip(*skipped);
  EXPECT_EQ(event.step, 1);
  EXPECT_EQ(event.skipped, 1);
  EXPECT_EQ(fit.report("").skipped_steps, 1);
}

TEST_F(FitTest, TakesTheStateOfASavedFit) {
  const FitOptions options{.epochs = 2};
  auto fit = begin_fit(options, model, loader);
  const SavedFit saved{
      .state = {.position = {.epoch = 1, .batch = 1, .step = 3}, .skipped_steps = 1},
      .tensors = nothing_saved};
  fit.restore(saved, loader);
  EXPECT_EQ(fit.state.position, saved.state.position);
  EXPECT_EQ(fit.report("no disk").skipped_steps, 1);
  EXPECT_EQ(fit.report("no disk").unsaved, "no disk");
}

TEST_F(FitTest, RefusesASavedFitPastItsEnd) {
  const FitOptions options{.epochs = 2};
  const std::vector<Position> positions{{.epoch = 1, .batch = 1, .step = 5},
                                        {.epoch = 3, .batch = 0, .step = 4},
                                        {.epoch = 1, .batch = 3, .step = 4}};
  for (const auto& position : positions) {
    auto fit = begin_fit(options, model, loader);
    const SavedFit saved{.state = {.position = position}, .tensors = nothing_saved};
    EXPECT_THROW(fit.restore(saved, loader), InputError);
    const auto problem = tests::problem_of([&] { fit.restore(saved, loader); });
    EXPECT_NE(problem.find("is past the end of this run (4 steps)"), std::string::npos) << problem;
  }
}

TEST_F(FitTest, TakesTheBestModelOfASavedFitThatHasEvaluated) {
  const tests::FakeState kept{{{"w", 4.0}}};
  std::vector<std::string> asked;
  SavedFit saved{.tensors = [&](std::string_view owner) {
    asked.emplace_back(owner);
    return kept.views();
  }};
  BestModel best;
  auto fit = begin_fit(defaults, model, loader, dev, best);
  fit.restore(saved, loader);
  EXPECT_TRUE(asked.empty());
  saved.state.dev.push_back({.accuracy = 0.5});
  fit.restore(saved, loader);
  EXPECT_EQ(asked, (std::vector<std::string>{"best_model"}));
  fit.apply_best(model);
  EXPECT_EQ(model.weight(), 4);
}

TEST_F(FitTest, ReportsTheEpochOfTheModel) {
  const auto epoch_of_model = [&](auto&... parts) {
    auto fit = begin_fit(defaults, model, loader, dev, parts...);
    const std::size_t before = fit.report("").epoch_of_model;
    EXPECT_EQ(before, 0U);
    fit.state.dev = {{.accuracy = 0.5}, {.accuracy = 0.9}, {.accuracy = 0.7}};
    return fit.report("").epoch_of_model;
  };
  BestModel best, disabled{false};
  EXPECT_EQ(epoch_of_model(), 2U);
  EXPECT_EQ(epoch_of_model(best), 1U);
  EXPECT_EQ(epoch_of_model(disabled), 2U);
}

TEST(FitReport, IsThePlaceOfALaterEvaluation) {
  FitReport report;
  report.steps = 12;
  report.epochs = 3;
  const auto point = report.point("test");
  EXPECT_EQ(point.split, "test");
  EXPECT_EQ(point.epoch, 3);
  EXPECT_EQ(point.step, 12);
}

TEST(DescribeStep, NamesTheStepItsLossAndItsRows) {
  const std::vector<tests::FakeBatch> batches{{.rows = 2}, {.rows = 1}};
  const std::span<const tests::FakeBatch> span{batches};
  const Position position{.epoch = 1, .batch = 2, .step = 7};
  EXPECT_EQ(describe_step(position, span, 0.5), "epoch 2, step 7, loss 0.500000, 3 rows");
  EXPECT_EQ(describe_step(position, span, std::nan("")), "epoch 2, step 7, loss nan, 3 rows");
  EXPECT_EQ(describe_step(position, span, {}), "epoch 2, step 7, 3 rows");
}

struct WithIds {
  std::vector<std::int64_t> row_ids;
};
struct Without {
  std::int64_t rows;
};

TEST(DescribeRows, NamesThemWhereTheBatchesTell) {
  const std::vector<WithIds> batches{{{3, 17}}, {{4}}};
  EXPECT_EQ(describe_rows(std::span{batches}), "rows 3, 17, 4");
  const std::vector<Without> untold{{2}, {3}};
  EXPECT_EQ(describe_rows(std::span{untold}), "5 rows");
}

TEST(DescribeRows, IsNotEndless) {
  const std::vector<WithIds> batches{{std::vector<std::int64_t>(1000, 7)}};
  const auto text = describe_rows(std::span{batches});
  EXPECT_LT(text.size(), 300U);
  EXPECT_TRUE(text.ends_with("7, … (1000 of them)")) << text;
}

}  // namespace
}  // namespace seqtrain::train
