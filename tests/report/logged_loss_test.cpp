#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/report/logged_loss.hpp>
#include <seqtrain/train/events.hpp>

#include "support/run_events.hpp"

namespace seqtrain::report {
namespace {

/// Returns the batches at which a line is due in an epoch whose steps take `window` batches each.
std::vector<std::int64_t> due(Cadence& cadence, std::int64_t batches, std::int64_t window,
                              std::int64_t epoch = 1) {
  std::vector<std::int64_t> result;
  for (std::int64_t batch = 0; batch < batches;) {
    batch = std::min(batches, batch + window);
    auto event = tests::step(batch, batches, tests::no_loss);
    event.epoch = epoch;
    event.step = (epoch - 1) * batches + batch;
    event.steps = 1'000;
    if (cadence.due(event)) result.push_back(batch);
  }
  return result;
}

using Batches = std::vector<std::int64_t>;

TEST(Cadence, DividesEachEpochEqually) {
  Cadence cadence{50};
  EXPECT_EQ(due(cadence, 123, 1), (Batches{1, 41, 82, 123}));
  EXPECT_EQ(due(cadence, 100, 1, 2), (Batches{50, 100}));
  EXPECT_EQ(due(cadence, 101, 1, 3), (Batches{34, 68, 101}));
  EXPECT_EQ(due(cadence, 1, 1, 4), (Batches{1}));
}

TEST(Cadence, EachWhereEveryIsOne) {
  Cadence cadence{1};
  EXPECT_EQ(due(cadence, 4, 1), (Batches{1, 2, 3, 4}));
}

TEST(Cadence, AShortRunHasMorePoints) {
  Cadence cadence;
  cadence.begin({.epochs = 2, .steps = 46, .batches = 46});
  EXPECT_EQ(due(cadence, 23, 1).size(), 13U);
  EXPECT_EQ(due(cadence, 23, 1, 2).size(), 12U);
  cadence.begin({.epochs = 1, .steps = 100'000, .batches = 100'000});
  EXPECT_EQ(due(cadence, 500, 1, 2), (Batches{50, 100, 150, 200, 250, 300, 350, 400, 450, 500}));
}

TEST(Cadence, ARunThatIsResumedGoesOnWithTheSameBatches) {
  for (std::int64_t done = 1; done < 12; ++done) {
    Cadence whole{5};
    Cadence resumed{5};
    resumed.begin({.position = {.epoch = 1, .batch = done, .step = 100}});
    for (std::int64_t batch = 1; batch <= 12; ++batch) {
      auto event = tests::step(batch, 12, tests::no_loss);
      event.epoch = 2;
      event.step = 99 + batch;
      event.steps = 1'000;
      const bool due = whole.due(event);
      if (batch > done) {
        EXPECT_EQ(resumed.due(event), due) << done << " " << batch;
      }
    }
  }
}

TEST(Cadence, StepsOfSeveralBatchesPassTheMark) {
  Cadence cadence{10};
  EXPECT_EQ(due(cadence, 34, 4), (Batches{12, 20, 28, 34}));
  EXPECT_EQ(due(cadence, 30, 20, 2), (Batches{20, 30}));
}

TEST(Cadence, TheLastStepOfARunThatEndsInAnEpoch) {
  Cadence cadence{100};
  auto event = tests::step(1, 293, tests::no_loss);
  event.steps = 3;
  EXPECT_TRUE(cadence.due(event));
  event.step = event.batch = 2;
  EXPECT_FALSE(cadence.due(event));
  event.step = event.batch = 3;
  EXPECT_TRUE(cadence.due(event));
}

TEST(Cadence, RefusesANegativeInterval) {
  EXPECT_THROW(Cadence{-5}, InputError);
}

std::function<double()> loss_of(double value) {
  return [value] { return value; };
}

TEST(MeanLoss, IsTheMeanSinceTheLastCall) {
  MeanLoss mean;
  EXPECT_TRUE(std::isnan(mean.take()));
  for (const double loss : {1.0, 2.0, 6.0}) mean.add(loss_of(loss));
  EXPECT_DOUBLE_EQ(mean.take(), 3);
  mean.add(loss_of(8));
  EXPECT_DOUBLE_EQ(mean.take(), 8);
}

TEST(MeanLoss, LeavesOutLossesThatAreNotFinite) {
  MeanLoss mean;
  mean.add(loss_of(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(std::isnan(mean.take()));
  for (const double loss : {2.0, std::numeric_limits<double>::infinity(), 4.0}) {
    mean.add(loss_of(loss));
  }
  EXPECT_DOUBLE_EQ(mean.take(), 3);
}

TEST(MeanLoss, ReadsLossesLateButKeepsFew) {
  MeanLoss mean;
  std::size_t read = 0;
  const std::function<double()> loss = [&read] { return static_cast<double>(++read); };
  for (std::size_t step = 1; step < MeanLoss::most_open; ++step) mean.add(loss);
  EXPECT_EQ(read, 0U);
  mean.add(loss);
  EXPECT_EQ(read, MeanLoss::most_open);
  mean.add(loss);
  EXPECT_DOUBLE_EQ(mean.take(), static_cast<double>(MeanLoss::most_open + 2) / 2);
}

TEST(LoggedLoss, AResumedRunBeginsWithTheStepsSinceItsCheckpoint) {
  const auto figures = [](std::int64_t done) {
    std::vector<double> result;
    LoggedLoss losses{4};
    losses.begin({.position = {.epoch = 0, .batch = done, .step = done}});
    for (std::int64_t batch = done + 1; batch <= 8; ++batch) {
      const auto loss = loss_of(static_cast<double>(batch));
      if (const auto mean = losses.add(tests::step(batch, 8, loss))) result.push_back(*mean);
    }
    return result;
  };
  EXPECT_EQ(figures(0), (std::vector<double>{1, 3, 6.5}));
  EXPECT_EQ(figures(2), (std::vector<double>{3.5, 6.5}));
  EXPECT_EQ(figures(4), (std::vector<double>{6.5}));
}

}  // namespace
}  // namespace seqtrain::report
