#include <limits>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/optim/schedule.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::optim {
namespace {

TEST(Schedule, EqualsTransformers) {
  const auto golden = json::Document::load(tests::golden() / "optim.json");
  std::size_t compared = 0;
  for (const auto& entry : golden.root().at("schedules").items()) {
    const Schedule schedule{.type = schedule_type(entry.at("type").string()),
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

TEST(Schedule, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Schedule{.warmup_steps = -1}.validate(), InputError);
  EXPECT_THROW(Schedule{.warmup_ratio = 1.5}.validate(), InputError);
  EXPECT_THROW(Schedule{.warmup_ratio = std::numeric_limits<double>::quiet_NaN()}.validate(),
               InputError);
  EXPECT_THROW(static_cast<void>(schedule_type("polynomial")), InputError);
}

}  // namespace
}  // namespace seqtrain::optim
