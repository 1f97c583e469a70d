#include <gtest/gtest.h>

#include <seqtrain/optim/lion.hpp>

#include "support/problem_of.hpp"
#include "support/rule_golden.hpp"

namespace seqtrain::optim {
namespace {

TEST(Lion, EqualsItsPaper) {
  const auto make = [](const json::Value& golden) {
    const auto betas = golden.at("betas").items();
    return Lion{{.lr = golden.at("lr").number(),
                 .beta1 = betas[0].number(),
                 .beta2 = betas[1].number(),
                 .weight_decay = golden.at("weight_decay").number()}};
  };
  EXPECT_EQ(tests::expect_reference_values("lion", make), 2U);
}

TEST(Lion, LeavesRowsAsTheyAreThatNeverHadAGradient) {
  const tests::OptimizerCase made;
  const at::Tensor before = made.parameters[2].value.clone();
  Lion lion{{.lr = 0.1}};
  for (int step = 0; step < 3; ++step) {
    made.parameters[2].gradient[1].fill_(0.5);
    lion.step(made.parameters, {});
  }
  EXPECT_TRUE(made.parameters[2].value[0].equal(before[0]));
  EXPECT_FALSE(made.parameters[2].value[1].equal(before[1]));
}

TEST(Lion, RefusesOptionsOutOfRange) {
  EXPECT_EQ(tests::problem_of([] { Lion{{.beta1 = 1}}; }),
            "lion: beta1: must be at least 0 and below 1");
  EXPECT_EQ(tests::problem_of([] { Lion{{.beta2 = -1}}; }),
            "lion: beta2: must be at least 0 and below 1");
}

}  // namespace
}  // namespace seqtrain::optim
