#include <string>

#include <gtest/gtest.h>

#include <seqtrain/train/step_watch.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::train {
namespace {

const auto step = [](bool known) { return std::string{known ? "step 3, loss 1" : "step 3"}; };

TEST(StepWatch, HasNothingToSayOfAStepThatWasTaken) {
  StepWatch watch{OnNonfinite::stop};
  watch.add({}, step);
  EXPECT_FALSE(watch.known());
  EXPECT_EQ(watch.settle(), "");
}

TEST(StepWatch, StopsOrSkips) {
  const std::string expected =
      "step 3, loss 1: the gradient of w is not finite; the step was not taken";
  StepWatch skip{OnNonfinite::skip};
  skip.add(optim::Outcome::not_taken("the gradient of w is not finite"), step);
  EXPECT_TRUE(skip.known());
  EXPECT_EQ(skip.settle(), expected);
  EXPECT_EQ(skip.settle(), "");
  StepWatch stop{OnNonfinite::stop};
  stop.add(optim::Outcome::not_taken("the gradient of w is not finite"), step);
  const auto problem = tests::problem_of([&] { (void)stop.settle(); });
  EXPECT_NE(problem.find(expected), std::string::npos) << problem;
}

TEST(StepWatch, AsksADeviceOnlyWhenItSettles) {
  int asked = 0;
  StepWatch watch{OnNonfinite::skip};
  watch.add(optim::Outcome::on_device([&] { return ++asked, std::string{"bad"}; }), step);
  EXPECT_FALSE(watch.known());
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(watch.settle(), "step 3: bad; the step was not taken");
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace seqtrain::train
