#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include <seqtrain/experiment/watch.hpp>
#include <seqtrain/train/events.hpp>

#include "support/run_events.hpp"

namespace seqtrain::experiment {
namespace {

TEST(LastDev, HasTheMeanLossOfTheLastEpochsSteps) {
  LastDev last;
  EXPECT_TRUE(std::isnan(last.training_loss));
  const auto report = tests::some_report();
  for (std::int64_t epoch = 1; epoch <= 2; ++epoch) {
    for (std::int64_t batch = 1; batch <= 3; ++batch) {
      const double loss = static_cast<double>(10 * epoch + batch);
      last.on(tests::step(batch, 3, [loss] { return loss; }));
    }
    last.on(train::EvalEnd{"dev", epoch, 3 * epoch, 1, report});
    EXPECT_EQ(last.epoch, static_cast<std::size_t>(epoch));
    EXPECT_DOUBLE_EQ(last.training_loss, static_cast<double>(10 * epoch + 2));
  }
}

}  // namespace
}  // namespace seqtrain::experiment
