#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/flag_names.hpp>

namespace seqtrain::cli {
namespace {

const std::vector<std::string> flag_names{
    "batch-size", "dev-file",     "epochs", "gradient-accumulation", "labels", "lr-scheduler-type",
    "precision",  "warmup-ratio", "seed"};

std::string advice_on(const std::string& wrong) {
  return advice_for_unknown(wrong, flag_names, "mnli");
}

TEST(DidYouMean, FindsAMisspelledName) {
  EXPECT_EQ(most_like("epoch", flag_names), "epochs");
  EXPECT_EQ(most_like("batch-szie", flag_names), "batch-size");
  EXPECT_EQ(most_like("warmup", flag_names), "warmup-ratio");
  EXPECT_EQ(most_like("gradient-accumulation-steps", flag_names), "gradient-accumulation");
  EXPECT_EQ(most_like("seed", flag_names), "seed");
}

TEST(DidYouMean, FindsNothingFarAway) {
  for (const char* wrong : {"", "x", "se", "unheard-of", "colour"}) {
    EXPECT_EQ(most_like(wrong, flag_names), "") << wrong;
  }
}

TEST(DidYouMean, KnowsFlagsOfOtherPrograms) {
  EXPECT_EQ(advice_on("fp16"), "use --precision fp16");
  EXPECT_EQ(advice_on("eval-strategy"), "the dev examples are evaluated after each epoch");
  EXPECT_EQ(advice_on("num-labels"),
            "the labels are those of the training file; --labels a,b,c names them");
  EXPECT_EQ(advice_on("epoch"), "did you mean --epochs?");
  EXPECT_EQ(advice_on("unheard-of"), "see mnli --help");
}

TEST(DidYouMean, GivesNoAdviceAboutAFlagThatAProgramLacks) {
  EXPECT_EQ(advice_on("lr"), "see mnli --help");
  EXPECT_EQ(advice_on("no-cuda"), "see mnli --help");
}

}  // namespace
}  // namespace seqtrain::cli
