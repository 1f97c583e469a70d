#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/concepts/schedule.hpp>
#include <seqtrain/core/json.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::optim {
namespace {

Schedule::Type type_named(std::string_view text) {
  return std::ranges::find(schedule_names, text, &decltype(schedule_names)::value_type::first)
      ->second;
}

TEST(Schedule, HasTheNamesOfTransformers) {
  for (const auto& [text, type] : schedule_names) EXPECT_EQ(name(type), text);
  EXPECT_EQ(name(Schedule::Type::one_cycle), "one_cycle");
}

TEST(Schedule, EqualsTransformers) {
  const auto golden = json::Document::load(tests::golden() / "optim.json");
  std::size_t compared = 0;
  for (const auto& entry : golden.root().at("schedules").items()) {
    const Schedule schedule{.type = type_named(entry.at("type").string()),
                            .warmup_steps = entry.at("warmup_steps").integer()};
    const std::int64_t steps = entry.at("steps").integer();
    std::int64_t step = 0;
    for (const auto& scale : entry.at("scales").items()) {
      EXPECT_NEAR(schedule.lr_scale(step++, steps), scale.number(), 1e-12);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 117U);
}

TEST(Schedule, RoundsTheWarmupsShareUp) {
  const Schedule schedule{.type = Schedule::Type::constant, .warmup_ratio = 0.06};
  EXPECT_DOUBLE_EQ(schedule.lr_scale(1, 20), 0.5);  // two steps of warm-up
  EXPECT_DOUBLE_EQ(schedule.lr_scale(2, 20), 1);
}

TEST(Schedule, EndsAtZeroAndStaysThere) {
  for (const auto type : {Schedule::Type::linear, Schedule::Type::cosine}) {
    EXPECT_NEAR(Schedule{.type = type}.lr_scale(10, 10), 0, 1e-12);
    EXPECT_NEAR(Schedule{.type = type}.lr_scale(11, 10), 0, 1e-12);
  }
}

TEST(Schedule, SlantsATriangle) {
  // The formula of Howard and Ruder 2018, section 3.2, with cut_frac 0.1 and ratio 32.
  const Schedule schedule{.type = Schedule::Type::slanted_triangular};
  constexpr std::int64_t steps = 200, cut = 20;
  for (std::int64_t t = 0; t <= steps; ++t) {
    const double height =
        t < cut ? static_cast<double>(t) / cut
                : 1 - static_cast<double>(t - cut) / (static_cast<double>(cut) * (1 / 0.1 - 1));
    EXPECT_NEAR(schedule.lr_scale(t, steps), (1 + height * 31) / 32, 1e-12) << t;
  }
  EXPECT_DOUBLE_EQ(schedule.lr_scale(cut, steps), 1);
  EXPECT_DOUBLE_EQ(schedule.lr_scale(steps + 5, steps), 1.0 / 32);
  const Schedule quick{.type = Schedule::Type::slanted_triangular, .warmup_steps = 2};
  EXPECT_DOUBLE_EQ(quick.lr_scale(2, steps), 1);
  EXPECT_DOUBLE_EQ(schedule.lr_scale(0, 1), 1.0 / 32);
}

TEST(Schedule, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Schedule{.warmup_steps = -1}.validate(), InputError);
  EXPECT_THROW(Schedule{.warmup_ratio = 1.5}.validate(), InputError);
  EXPECT_THROW(Schedule{.warmup_ratio = std::numeric_limits<double>::quiet_NaN()}.validate(),
               InputError);
}

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
