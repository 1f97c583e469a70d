#include <cstdint>

#include <gtest/gtest.h>

#include <seqtrain/concepts/one_cycle.hpp>
#include <seqtrain/concepts/schedule.hpp>
#include <seqtrain/core/json.hpp>

namespace seqtrain::optim {
namespace {

TEST(OneCycle, HasTheRatesAndMomentaOfFastai) {
  const auto document = json::Document::load(SEQTRAIN_TESTS_DIR "/golden/one_cycle.json");
  for (const auto& golden : document.root().at("cycles").items()) {
    const Schedule schedule{.type = Schedule::Type::one_cycle,
                            .one_cycle = {.div = golden.at("div").number(),
                                          .div_final = golden.at("div_final").number(),
                                          .pct_start = golden.at("pct_start").number()}};
    schedule.validate();
    const std::int64_t steps = golden.at("steps").integer();
    std::int64_t step = 0;
    for (const auto& scale : golden.at("lr_scales").items()) {
      // The tolerance is relative to the highest rate, because fastai computes the fraction of the
      // run in fp32.
      EXPECT_NEAR(schedule.lr_scale(step++, steps), scale.number(), 2e-7);
    }
    EXPECT_EQ(step, steps);
    step = 0;
    for (const auto& momentum : golden.at("momenta").items()) {
      EXPECT_NEAR(schedule.momentum(step++, steps).value(), momentum.number(), 1e-7);
    }
  }
}

TEST(OneCycle, LeavesTheMomentumOfOtherSchedulesAlone) {
  EXPECT_FALSE(Schedule{}.momentum(0, 10));
}

TEST(OneCycle, RefusesWhatMakesNoSense) {
  EXPECT_THROW(OneCycle{.div = 0.5}.validate(), InputError);
  EXPECT_THROW(OneCycle{.pct_start = 1}.validate(), InputError);
  EXPECT_THROW(OneCycle{.momentum_low = 1}.validate(), InputError);
  const Schedule warm{.type = Schedule::Type::one_cycle, .warmup_steps = 3};
  EXPECT_THROW(warm.validate(), InputError);
}

}  // namespace
}  // namespace seqtrain::optim
