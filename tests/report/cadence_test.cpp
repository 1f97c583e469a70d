#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/report/cadence.hpp>

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
    event.steps = 1'000;
    if (cadence.due(event)) result.push_back(batch);
  }
  return result;
}

using Batches = std::vector<std::int64_t>;

TEST(Cadence, FirstEachAfterItAndLast) {
  Cadence cadence{50};
  EXPECT_EQ(due(cadence, 123, 1), (Batches{1, 51, 101, 123}));
  EXPECT_EQ(due(cadence, 100, 1, 2), (Batches{1, 51, 100}));
  EXPECT_EQ(due(cadence, 101, 1, 3), (Batches{1, 51, 101}));
  EXPECT_EQ(due(cadence, 1, 1, 4), (Batches{1}));
}

TEST(Cadence, EachWhereEveryIsOne) {
  Cadence cadence{1};
  EXPECT_EQ(due(cadence, 4, 1), (Batches{1, 2, 3, 4}));
}

TEST(Cadence, ARunThatIsResumedGoesOnWithTheSameBatches) {
  for (std::int64_t done = 1; done < 12; ++done) {
    Cadence whole{5};
    Cadence resumed{5};
    resumed.start_at({.epoch = 1, .batch = done, .step = 100});
    for (std::int64_t batch = 1; batch <= 12; ++batch) {
      auto event = tests::step(batch, 12, tests::no_loss);
      event.epoch = 2;
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
  EXPECT_EQ(due(cadence, 34, 4), (Batches{4, 12, 24, 32, 34}));
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

TEST(Cadence, RefusesToComeNever) {
  EXPECT_THROW(Cadence{0}, InputError);
  EXPECT_THROW(Cadence{-5}, InputError);
}

}  // namespace
}  // namespace seqtrain::report
