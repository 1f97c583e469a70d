#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/train/step_watch.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::train {
namespace {

const auto step = [](bool known) { return std::string{known ? "step 3, loss 1" : "step 3"}; };

TEST(StepWatch, HasNothingToSayOfAStepThatWasTaken) {
  StepWatch watch{OnNonfinite::stop};
  watch.add(3, {}, step);
  EXPECT_FALSE(watch.due());
  EXPECT_FALSE(watch.settle());
}

TEST(StepWatch, StopsOrSkips) {
  const std::string expected =
      "step 3, loss 1: the gradient of w is not finite; the step was not taken";
  StepWatch skip{OnNonfinite::skip};
  skip.add(3, optim::Outcome::not_taken("the gradient of w is not finite"), step);
  EXPECT_TRUE(skip.due());
  const auto skipped = skip.settle();
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->step, 3);
  EXPECT_EQ(skipped->problem, expected);
  EXPECT_FALSE(skip.settle());
  StepWatch stop{OnNonfinite::stop};
  stop.add(3, optim::Outcome::not_taken("the gradient of w is not finite"), step);
  const auto problem = tests::problem_of([&] { (void)stop.settle(); });
  EXPECT_NE(problem.find(expected), std::string::npos) << problem;
}

TEST(StepWatch, SkipsAStepOfAScaledLossUntilTheScaleIsOne) {
  for (const auto policy : {OnNonfinite::stop, OnNonfinite::skip}) {
    StepWatch watch{policy};
    const auto add = [&](double scale) {
      watch.add(3, optim::Outcome::not_taken("bad").with_loss_scale([=] { return scale; }), step);
    };
    add(65536);
    EXPECT_EQ(watch.settle()->problem,
              "step 3, loss 1: bad with a loss scale of 65536; the step was not taken");
    add(1);
    const auto problem = tests::problem_of([&] { (void)watch.settle(); });
    EXPECT_NE(problem.find("scale of 1; the step was not taken; lower the learning rate, or train"),
              std::string::npos)
        << problem;
  }
}

TEST(StepWatch, AsksADeviceWhenItKnowsOrIsTwoStepsBehind) {
  bool there = false;
  int asked = 0;
  StepWatch watch{OnNonfinite::skip};
  const auto add = [&](std::int64_t number) {
    const auto ask = [&asked] { return ++asked, std::string{"bad"}; };
    watch.add(number, optim::Outcome::on_device(ask, [&there] { return there; }), step);
  };
  add(3);
  add(4);
  EXPECT_FALSE(watch.due());
  add(5);
  EXPECT_TRUE(watch.due());
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(watch.settle()->problem, "step 3: bad; the step was not taken");
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(watch.due());
  there = true;
  EXPECT_TRUE(watch.due());
  EXPECT_EQ(watch.settle()->step, 4);
  EXPECT_EQ(watch.settle()->step, 5);
  EXPECT_FALSE(watch.open());
}

}  // namespace
}  // namespace seqtrain::train
