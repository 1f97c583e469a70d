#include <gtest/gtest.h>

#include <seqtrain/cli/flags/chosen_values.hpp>

namespace seqtrain::cli {
namespace {

TEST(ChosenEpochs, GiveFewExamplesSomeThreeHundredSteps) {
  EXPECT_EQ(chosen_epochs({.examples = 1}), 20);
  EXPECT_EQ(chosen_epochs({.examples = 200}), 20);  // 260 steps
  EXPECT_EQ(chosen_epochs({.examples = 729}), 7);   // 322 steps
  EXPECT_EQ(chosen_epochs({.examples = 1600}), 3);  // 300 steps
  EXPECT_EQ(chosen_epochs({.examples = 50'000}), 3);
  EXPECT_EQ(chosen_epochs({.examples = 50'001}), 2);
  EXPECT_EQ(chosen_epochs({.examples = 729, .step_examples = 32}), 13);  // 299 steps
}

TEST(ChosenLearningRate, FallsWithTheEncodersSize) {
  EXPECT_EQ(chosen_learning_rate({.hidden_size = 128}), 1e-4);
  EXPECT_EQ(chosen_learning_rate({.hidden_size = 384}), 1e-4);
  EXPECT_DOUBLE_EQ(chosen_learning_rate({.hidden_size = 768}), 5e-5);
  EXPECT_DOUBLE_EQ(chosen_learning_rate({.hidden_size = 1024}), 3.8e-5);
  EXPECT_DOUBLE_EQ(chosen_learning_rate({.hidden_size = 4096}), 1e-5);
  EXPECT_DOUBLE_EQ(chosen_learning_rate({.hidden_size = 768, .trains_few = true}), 5e-4);
}

TEST(ChosenValues, LeaveGivenFlagsAlone) {
  TrainingFlags flags;
  EXPECT_EQ(choose_values(flags, {.examples = 729, .hidden_size = 384}),
            (train::Pairs{{"epochs", "7"}, {"learning-rate", "0.0001"}}));
  EXPECT_EQ(flags.epochs, 7);
  EXPECT_EQ(flags.learning_rate, 1e-4);
  EXPECT_TRUE(choose_values(flags, {.examples = 10}).empty());
}

TEST(ChosenValues, LetANewHeadOfManyLabelsOrOfNumbersLearnAtTenTimesTheRate) {
  const RunSize size{.examples = 729, .hidden_size = 384, .has_new_head = true, .labels = 6};
  TrainingFlags flags;
  EXPECT_EQ(choose_values(flags, size),
            (train::Pairs{
                {"epochs", "7"}, {"learning-rate", "0.0001"}, {"head-learning-rate", "0.001"}}));
  EXPECT_EQ(flags.head_learning_rate, 1e-3);
  EXPECT_FALSE(has_fast_head({.has_new_head = true, .labels = 5}));
  EXPECT_TRUE(has_fast_head({.has_new_head = true, .labels = 1, .regression = true}));
  EXPECT_FALSE(has_fast_head({.labels = 6}));
  EXPECT_FALSE(has_fast_head({.labels = 1, .regression = true}));
  EXPECT_FALSE(has_fast_head({.trains_few = true, .has_new_head = true, .labels = 6}));
  TrainingFlags has_rate;  // as in transformers
  has_rate.epochs = 3, has_rate.learning_rate = 5e-5;
  EXPECT_TRUE(choose_values(has_rate, size).empty());
  TrainingFlags has_rate_of_head;
  has_rate_of_head.epochs = 3, has_rate_of_head.head_learning_rate = 2e-4;
  EXPECT_EQ(choose_values(has_rate_of_head, size), (train::Pairs{{"learning-rate", "0.0001"}}));
  EXPECT_EQ(has_rate_of_head.head_learning_rate, 2e-4);
  TrainingFlags tries;
  tries.epochs = 1, tries.trial = run::Trial{.values = {.learning_rate = 0.5}};
  EXPECT_EQ(choose_values(tries, size),
            (train::Pairs{{"learning-rate", "5e-05"}, {"head-learning-rate", "0.0005"}}));
}

TEST(ChosenValues, HaveNoEpochsWithMaxSteps) {
  TrainingFlags flags;
  flags.max_steps = 10;
  EXPECT_EQ(choose_values(flags, {.examples = 729}), (train::Pairs{{"learning-rate", "5e-05"}}));
  EXPECT_FALSE(flags.epochs);
}

TEST(ChosenValues, AreThoseOfATrial) {
  TrainingFlags flags;
  flags.trial = run::Trial{.share = 0.25, .values = {.learning_rate = 1.5, .epochs = 2}};
  EXPECT_EQ(choose_values(flags, {.examples = 729, .hidden_size = 384}),  // 46 steps in an epoch
            (train::Pairs{{"epochs", "14"}, {"learning-rate", "0.00015"}, {"max-steps", "161"}}));
  EXPECT_EQ(flags.epochs, 14);
  EXPECT_EQ(flags.learning_rate, 1.5e-4);
  EXPECT_EQ(flags.max_steps, 161);
}

TEST(ChosenValues, OfATrialChangeDefaultsOfAProgram) {
  TrainingFlags flags;
  flags.learning_rate = 1e-3;
  flags.max_steps = 10;
  flags.trial = run::Trial{.share = 0.5, .values = {.learning_rate = 0.25}};
  EXPECT_EQ(choose_values(flags, {.examples = 729}),
            (train::Pairs{{"learning-rate", "0.00025"}, {"max-steps", "5"}}));
  flags.max_steps = 1;
  flags.trial = run::Trial{.share = 0.25};
  EXPECT_EQ(choose_values(flags, {.examples = 729}), (train::Pairs{{"max-steps", "1"}}));
  flags.max_steps = 100, flags.warmup_steps = 12;
  EXPECT_EQ(choose_values(flags, {.examples = 729}),
            (train::Pairs{{"max-steps", "25"}, {"warmup-steps", "3"}}));
  EXPECT_EQ(flags.schedule().warmup_steps, 3);
  flags.warmup_steps = 0;
  flags.trial = run::Trial{};  // a whole run with the usual values
  EXPECT_TRUE(choose_values(flags, {.examples = 729}).empty());
}

TEST(Schedule, WarmsUpByDefaultIfTheRateFalls) {
  using Type = seqtrain::optim::Schedule::Type;
  TrainingFlags flags;
  EXPECT_EQ(flags.schedule().type, Type::linear);
  EXPECT_EQ(flags.schedule().warmup_ratio, 0.1);
  flags.warmup_steps = 5;
  EXPECT_EQ(flags.schedule().warmup_ratio, 0);
  flags.warmup_steps = 0;
  for (const auto type : {Type::constant, Type::one_cycle, Type::slanted_triangular}) {
    flags.lr_scheduler_type = type;
    EXPECT_EQ(flags.schedule().warmup_ratio, 0);
  }
  flags.warmup_ratio = 0.25;
  EXPECT_EQ(flags.schedule().warmup_ratio, 0.25);
}

}  // namespace
}  // namespace seqtrain::cli
