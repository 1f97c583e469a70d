#include <gtest/gtest.h>

#include <seqtrain/report/tuning.hpp>

namespace seqtrain::report {
namespace {

TEST(TrialRows, HaveTheValuesAndTheFigureOfEachRung) {
  const run::Tuning tuning{
      .metric = "accuracy",
      .trials = {{.values = {{"epochs", "3"}},
                  .runs = {{.share = 0.5, .figure = 0.5}, {.rung = 2, .figure = 0.75}}},
                 {.values = {{"epochs", "6"}},
                  .runs = {{.share = 0.5, .figure = 0.625}, {.rung = 2, .figure = 0.8125}}},
                 {.values = {{"epochs", "1"}}, .runs = {{.share = 0.5, .figure = 0.25}}},
                 {.runs = {{.share = 0.5, .problem = "diverged"}}}},
      .winner = 2};
  const Rows rows{{"trial", "epochs", "accuracy, 1/2", "accuracy, whole"},
                  {"1", "3", "0.5000", "0.7500"},
                  {"2, best", "6", "0.6250", "0.8125"},
                  {"3", "1", "0.2500", ""},
                  {"4", "", "none", ""}};
  EXPECT_EQ(trial_rows(tuning), rows);
  EXPECT_EQ(trial_rows({}), Rows{{"trial"}});
}

}  // namespace
}  // namespace seqtrain::report
