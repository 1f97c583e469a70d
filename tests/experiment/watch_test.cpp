#include <cmath>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <seqtrain/experiment/watch.hpp>
#include <seqtrain/train/events.hpp>

#include "support/run_events.hpp"

namespace seqtrain::experiment {
namespace {

TEST(Watch, HasTheMeanLossOfTheLastEpochsSteps) {
  Watch watch{/*keeps_predictions=*/false};
  EXPECT_TRUE(std::isnan(watch.training_loss()));
  const auto report = tests::some_report();
  for (std::int64_t epoch = 1; epoch <= 2; ++epoch) {
    for (std::int64_t batch = 1; batch <= 3; ++batch) {
      const double loss = static_cast<double>(10 * epoch + batch);
      watch.on(tests::step(batch, 3, [loss] { return loss; }));
    }
    watch.on(train::EvalEnd{"dev", epoch, 3 * epoch, 1, report});
    watch.on(train::EvalEnd{"test", epoch, 3 * epoch, 1, report});
    EXPECT_EQ(watch.evaluated_epoch(), static_cast<std::size_t>(epoch));
    EXPECT_DOUBLE_EQ(watch.training_loss(), static_cast<double>(10 * epoch + 2));
  }
}

}  // namespace
}  // namespace seqtrain::experiment
