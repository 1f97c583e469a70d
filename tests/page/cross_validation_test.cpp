#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/page/cross_validation.hpp>

namespace seqtrain::page {
namespace {

run::CrossValidation two_folds() {
  return {.figures = {{.name = "accuracy", .each = {0.5, 1}}},
          .baseline = {{.name = "linear accuracy", .each = {0.25, 0.25}}},
          .folds = 2};
}

TEST(CrossValidationPage, HasMeanAndDeviationOfEachFigure) {
  const report::Rows few{{"2 folds", "mean", "deviation"},
                         {"accuracy", "0.7500", "0.3536"},
                         {"simple models: linear accuracy", "0.2500", "0.0000"}};
  EXPECT_EQ(fold_rows(two_folds(), false), few);
  EXPECT_EQ(fold_rows(two_folds(), true)[1],
            (std::vector<std::string>{"accuracy", "0.7500", "0.3536", "0.5", "1"}));
}

TEST(CrossValidationPage, ListsLabelsAndTextsUnlessTheyAreToBeLeftOut) {
  auto all = two_folds();
  all.equal_texts = 1;
  const std::vector<run::DoubtfulLabel> errors{
      {.row = 5, .text = "<b>bold</b>", .label = "no", .suggested = "yes"}};
  const std::vector<run::EqualText> equal{{.group = 1, .row = 8, .text = "same", .label = "no"},
                                          {.group = 1, .row = 9, .text = "same", .label = "yes"}};
  const auto page = [&](bool texts) {
    return cross_validation_page({.name = "run",
                                  .file = "a&b.csv",
                                  .all = all,
                                  .label_errors = errors,
                                  .equal_texts = equal,
                                  .texts = texts});
  };
  const auto whole = page(true);
  for (const char* part : {"&lt;b&gt;bold", "a&amp;b.csv", "same", "Examples: 1.", "Texts: 1;"}) {
    EXPECT_NE(whole.find(part), whole.npos) << part;
  }
  EXPECT_EQ(page(false).find("bold"), std::string::npos);
  EXPECT_EQ(page(false).find("same"), std::string::npos);
}

TEST(CrossValidationPage, SaysThatExamplesHaveNoPrediction) {
  auto all = two_folds();
  const auto page = [&] {
    return cross_validation_page({.name = "run",
                                  .file = "a.csv",
                                  .all = all,
                                  .label_errors = {},
                                  .equal_texts = {},
                                  .examples = 9});
  };
  EXPECT_EQ(page().find("have no prediction"), std::string::npos);
  all.left_out = 3;
  EXPECT_NE(page().find("<p>3 of 9 examples have no prediction"), std::string::npos);
}

TEST(CrossValidationPage, SaysThatNoLabelErrorWasFound) {
  const auto page = cross_validation_page(
      {.name = "run", .file = "a.csv", .all = two_folds(), .label_errors = {}, .equal_texts = {}});
  EXPECT_NE(page.find("None was found"), page.npos);
  EXPECT_EQ(page.find("equal-texts"), page.npos);
}

}  // namespace
}  // namespace seqtrain::page
