#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/run/trials.hpp>

namespace seqtrain::run {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(DrawTrials, BeginWithTheUsualValuesAndFollowFromTheSeed) {
  const auto trials = draw_trials(16, {}, 7);
  ASSERT_EQ(trials.size(), 16U);
  EXPECT_EQ(trials.front(), TrialValues{});
  EXPECT_EQ(draw_trials(16, {}, 7), trials);
  EXPECT_NE(draw_trials(16, {}, 8), trials);
  EXPECT_EQ(draw_trials(16, {}, 8).front(), TrialValues{});
}

TEST(DrawTrials, SpreadLearningRatesOnALogarithmicScale) {
  for (const std::size_t count : {2U, 5U, 17U}) {
    std::vector<double> places;
    for (const auto& trial : draw_trials(count, {}, count)) {
      places.push_back((std::log(trial.learning_rate) / std::log(4.0) + 1) / 2);  // from 0 to 1
    }
    std::sort(places.begin() + 1, places.end());
    const double width = 1 / static_cast<double>(count - 1);
    for (std::size_t i = 1; i < count; ++i) {
      EXPECT_GE(places[i], static_cast<double>(i - 1) * width - 1e-9);
      EXPECT_LE(places[i], static_cast<double>(i) * width + 1e-9);
    }
  }
}

TEST(DrawTrials, HaveEachValueThatIsSearchedAndNoOther) {
  std::set<double> epochs, batches;
  std::set<TrainedPart> parts;
  std::set<bool> weights;
  for (const auto& trial : draw_trials(100, {.epochs = false}, 1)) {
    epochs.insert(trial.epochs);
    batches.insert(trial.batch_size);
    weights.insert(trial.balances_classes);
    parts.insert(trial.part);
  }
  EXPECT_EQ(epochs, (std::set<double>{1}));
  EXPECT_EQ(batches, (std::set<double>{0.5, 1, 2}));
  EXPECT_EQ(weights.size(), 2U);
  EXPECT_EQ(parts.size(), 3U);
}

TEST(DrawTrials, DoNotRepeatThemselves) {
  const SearchSpace only_weights{
      .learning_rate = false, .epochs = false, .batch_size = false, .part = false};
  const auto trials = draw_trials(8, only_weights, 1);
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_TRUE(trials[1].balances_classes);
}

TEST(RungsOf, HalveTheTrialsAndDoubleTheSteps) {
  using Rungs = std::vector<Rung>;
  EXPECT_EQ(rungs_of(2), (Rungs{{2, 1}}));
  EXPECT_EQ(rungs_of(3), (Rungs{{3, 0.5}, {2, 1}}));
  EXPECT_EQ(rungs_of(5), (Rungs{{5, 0.25}, {3, 0.5}, {2, 1}}));
  EXPECT_EQ(rungs_of(8), (Rungs{{8, 0.25}, {4, 0.5}, {2, 1}}));
  EXPECT_EQ(rungs_of(100), (Rungs{{100, 1. / 16}, {16, 0.125}, {8, 0.25}, {4, 0.5}, {2, 1}}));
  for (std::size_t trials = 2; trials < 70; ++trials) {
    const auto rungs = rungs_of(trials);
    EXPECT_EQ(rungs.front().trials, trials);
    EXPECT_EQ(rungs.back(), (Rung{2, 1}));
  }
}

TEST(Ranked, PutsTheLessLossFirstAmongEqualScoresAndNoNumberLast) {
  EXPECT_EQ(ranked({{0, 0.5, 1}, {1, nan, 0}, {2, 0.5, 0.9}, {3, 0.75, 2}, {4, 0.5, nan}}),
            (std::vector<std::size_t>{3, 2, 0, 4, 1}));
  EXPECT_EQ(ranked({{4, 0.5, 1}, {2, 0.5, 1}}), (std::vector<std::size_t>{2, 4}));
}

TEST(Ranked, ComparesLossesWithTheSameClassWeightsOnly) {
  EXPECT_EQ(ranked({{0, 0.5, 1, false},
                    {1, 0.5, 0.25, true},
                    {2, 0.5, 0.75, false},
                    {3, 0.5, 0.125, true},
                    {4, 0.75, 2, true}}),
            (std::vector<std::size_t>{4, 2, 0, 3, 1}));
}

TEST(Survivors, AreTheBestAndTheTrialWithTheUsualValues) {
  EXPECT_EQ(survivors({3, 2, 0, 4, 1}, 3), (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(survivors({3, 2, 4, 1, 0}, 2), (std::vector<std::size_t>{0, 3}));
}

}  // namespace
}  // namespace seqtrain::run
