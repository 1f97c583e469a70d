#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/report/baseline.hpp>

#include "support/run_events.hpp"

namespace seqtrain::report {
namespace {

/// A report with this many right of ten examples, in two labels of five.
metrics::ClassificationReport right(std::int64_t first, std::int64_t second) {
  metrics::Confusion confusion(2, 2);
  confusion << first, 5 - first, 5 - second, second;
  return metrics::make_report(confusion);
}

metrics::ClassificationReport error_of(double squares) {
  return {.problem_type = ProblemType::regression,
          .examples = 4,
          .figures = {{.name = "mean_squared_error", .value = squares},
                      {.name = "pearson", .value = 0.5}}};
}

TEST(BaselineRows, CompareModelsOfOneLabel) {
  EXPECT_EQ(align(baseline_rows(right(4, 4), {.majority = right(5, 0), .linear = right(5, 2)})),
            "on dev               accuracy  macro f1\n"
            "this model             0.8000    0.8000\n"
            "TF-IDF + linear        0.7000    0.6703\n"
            "most frequent label    0.5000    0.3333\n");
}

TEST(BaselineRows, CompareModelsOfNumbers) {
  EXPECT_EQ(
      align(baseline_rows(error_of(0.1), {.majority = error_of(0.3), .linear = error_of(0.2)})),
      "on dev                         mean_squared_error  pearson\n"
      "this model                                 0.1000   0.5000\n"
      "TF-IDF + linear                            0.2000   0.5000\n"
      "mean of the training examples              0.3000   0.5000\n");
}

TEST(BaselineRows, LeaveOutWhatAConstantDoesNotHave) {
  auto mean = error_of(0.3);
  mean.figures.back().value = std::nan("");
  const auto rows = baseline_rows(error_of(0.1), {.majority = mean, .linear = error_of(0.2)});
  EXPECT_EQ(rows[3], (std::vector<std::string>{"mean of the training examples", "0.3000", ""}));
}

TEST(BaselineRows, CompareModelsOfSeveralLabels) {
  const auto report = tests::some_report_of_several_labels();
  const auto rows = baseline_rows(report, {.majority = report, .linear = report});
  EXPECT_EQ(rows[0], (std::vector<std::string>{"on dev", "all right", "macro f1", "micro f1"}));
  EXPECT_EQ(rows[1], (std::vector<std::string>{"this model", "0.5000", "0.8333", "0.8000"}));
  EXPECT_EQ(rows[3][0], "labels that most examples have");
}

TEST(BaselineWarning, TellsOfASimpleModelThatIsAsGood) {
  EXPECT_EQ(
      baseline_warning(right(3, 3), {.majority = right(5, 0), .linear = right(4, 4)}),
      "a linear model on TF-IDF has the accuracy 0.8000 on the dev examples, above this run's "
      "0.6000; train for more --epochs or with other learning rates");
  EXPECT_EQ(baseline_warning(right(5, 0), {.majority = right(5, 0), .linear = right(4, 0)}),
            "always answering the most frequent label has the accuracy 0.5000 on the dev examples, "
            "which is this run's too; train for more --epochs or with other learning rates");
  EXPECT_EQ(baseline_warning(right(4, 4), {.majority = right(5, 0), .linear = right(4, 3)}), "");
  EXPECT_EQ(baseline_warning(right(5, 5), {.majority = right(5, 0), .linear = right(5, 5)}),
            "a linear model on TF-IDF has the accuracy 1.0000 on the dev examples, which is this "
            "run's too; the simpler model is enough for them");
}

TEST(BaselineWarning, ComparesMacroF1IfClassesHaveWeights) {
  // The accuracies are 0.6 and 0.5, the macro F1 0.524 and 0.5.
  const auto own = right(5, 1), linear = right(3, 2);
  EXPECT_EQ(baseline_warning(own, {.majority = right(5, 0), .linear = linear}), "");
  EXPECT_EQ(baseline_warning(right(5, 0), {.majority = right(0, 0), .linear = linear}),
            "a linear model on TF-IDF has the accuracy 0.5000 on the dev examples, which is this "
            "run's too; train for more --epochs or with other learning rates");
  EXPECT_EQ(
      baseline_warning(right(5, 0), {.majority = right(5, 0), .linear = linear, .weighted = true}),
      "a linear model on TF-IDF has the macro F1 0.4949 on the dev examples, above this run's "
      "0.3333; train for more --epochs or with other learning rates");
}

TEST(BaselineWarning, ComparesErrorsOfNumbers) {
  EXPECT_EQ(
      baseline_warning(error_of(0.135), {.majority = error_of(0.124), .linear = error_of(0.13)}),
      "the mean of the training examples has the mean squared error 0.1240 on the dev examples, "
      "below this run's 0.1350; train for more --epochs or with other learning rates");
  EXPECT_EQ(baseline_warning(error_of(0.1), {.majority = error_of(0.3), .linear = error_of(0.2)}),
            "");
}

TEST(BaselineWarning, IsSilentWithoutExamples) {
  EXPECT_EQ(baseline_warning({}, {}), "");
}

}  // namespace
}  // namespace seqtrain::report
