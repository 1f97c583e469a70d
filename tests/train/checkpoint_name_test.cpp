#include <optional>

#include <gtest/gtest.h>

#include <seqtrain/train/checkpoint_name.hpp>

namespace seqtrain::train {
namespace {

TEST(CheckpointName, NamesAndSteps) {
  EXPECT_EQ(checkpoint_name(500), "checkpoint-500");
  EXPECT_EQ(checkpoint_step("checkpoint-500"), 500);
  EXPECT_EQ(checkpoint_step("checkpoint-0"), 0);
  for (const char* other : {"checkpoint-", "checkpoint-5x", "checkpoint--5", "checkpoint-5.partial",
                            "run-5", "checkpoint-99999999999999999999", "checkpoint-05"}) {
    EXPECT_EQ(checkpoint_step(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace seqtrain::train
