#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/train/checkpoint_options.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::train {
namespace {

TEST(RunId, IsNewEachTime) {
  const std::string id = make_run_id();
  EXPECT_TRUE(id.starts_with("run_")) << id;
  EXPECT_NE(id, make_run_id());
}

TEST(CheckpointOptions, SaveNothingByDefault) {
  EXPECT_FALSE(CheckpointOptions{}.enabled());
  EXPECT_TRUE(CheckpointOptions{.every = 500}.enabled());
  EXPECT_TRUE(CheckpointOptions{.minutes = 0.5}.enabled());
  EXPECT_NO_THROW(CheckpointOptions{}.validate());
}

TEST(CheckpointOptions, RefuseValuesOutOfRange) {
  const auto problem = [](const CheckpointOptions& options) {
    return tests::problem_of([&] { options.validate(); });
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_NE(problem({.every = -1}).find("every"), std::string::npos);
  EXPECT_NE(problem({.minutes = -1}).find("minutes"), std::string::npos);
  EXPECT_NE(problem({.minutes = infinity}).find("minutes"), std::string::npos);
  EXPECT_NE(problem({.keep = 0}).find("keep"), std::string::npos);
  EXPECT_NE(problem({.resume = ""}).find("resume"), std::string::npos);
}

TEST(CheckpointOptions, MakeANewIdentityEachTime) {
  const CheckpointOptions options;
  EXPECT_NE(options.make_id(), options.make_id());
}

}  // namespace
}  // namespace seqtrain::train
