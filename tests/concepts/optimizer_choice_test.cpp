#include <gtest/gtest.h>

#include <seqtrain/concepts/optimizer_choice.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::optim {
namespace {

TEST(OptimizerNames, AreFoundAgain) {
  for (const auto& [known, type] : optimizer_names) {
    EXPECT_EQ(name(type), known);
    EXPECT_EQ(optimizer_named(known), type);
  }
}

TEST(OptimizerNames, ListsThemIfOneIsUnknown) {
  EXPECT_EQ(
      tests::problem_of([] { (void)optimizer_named("lino"); }),
      "lino: is no optimizer; use one of adam, adamw, adamw-8bit, lion, adafactor, sgd, muon");
}

TEST(OptimizerChoice, RefusesOptionsOutOfRange) {
  const auto problem = [](const Choice& choice) {
    return tests::problem_of([&] { choice.validate(); });
  };
  EXPECT_EQ(problem({}), "nothing was thrown");
  EXPECT_EQ(problem({.type = Choice::Type::sgd, .momentum = 0.9}), "nothing was thrown");
  EXPECT_EQ(problem({.type = Choice::Type::muon, .momentum = 1}),
            "optimizer: momentum: must be at least 0 and below 1");
  EXPECT_EQ(problem({.momentum = 0.9}), "optimizer: momentum: is for sgd and muon");
  EXPECT_EQ(problem({.beta1 = 1}), "optimizer: beta1: must be at least 0 and below 1");
  EXPECT_EQ(problem({.beta2 = -1}), "optimizer: beta2: must be at least 0 and below 1");
  EXPECT_EQ(problem({.eps = -1}), "optimizer: eps: must be a number, not negative");
  EXPECT_EQ(problem({.weight_decay = -1}),
            "optimizer: weight_decay: must be a number, not negative");
}

}  // namespace
}  // namespace seqtrain::optim
