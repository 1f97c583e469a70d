#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include <seqtrain/optim/sgd.hpp>

#include "support/problem_of.hpp"
#include "support/rule_golden.hpp"

namespace seqtrain::optim {
namespace {

TEST(Sgd, EqualsTorch) {
  const auto make = [](const json::Value& golden) {
    return Sgd{{.lr = golden.at("lr").number(),
                .momentum = tests::number_in(golden, "momentum", 0),
                .nesterov = golden.find("nesterov").has_value(),
                .weight_decay = golden.at("weight_decay").number()}};
  };
  EXPECT_EQ(tests::expect_reference_values("sgd", make), 3U);
}

TEST(Sgd, KeepsNoStateWithoutMomentum) {
  const tests::OptimizerCase made;
  Sgd sgd{{.lr = 0.1}};
  made.set_gradients(1);
  sgd.step(made.parameters, {});
  EXPECT_TRUE(sgd.state().views().empty());
  Sgd{{.lr = 0.1}}.load_state({}, made.parameters);
}

TEST(Sgd, TakesAStepsMomentumIfItHasOne) {
  const auto after = [](double momentum, std::optional<double> scheduled) {
    const tests::OptimizerCase made;
    Sgd sgd{{.lr = 0.1, .momentum = momentum}};
    for (std::int64_t step = 0; step < 3; ++step) {
      made.set_gradients(step);
      sgd.step(made.parameters, {.momentum = scheduled});
    }
    return made.parameters[0].value;
  };
  EXPECT_TRUE(after(0.9, 0.5).equal(after(0.5, {})));
  EXPECT_FALSE(after(0.9, 0.5).equal(after(0.9, {})));
  EXPECT_TRUE(after(0, 0.5).equal(after(0, {})));
}

TEST(Sgd, RefusesOptionsOutOfRange) {
  EXPECT_EQ(tests::problem_of([] { Sgd{{.momentum = 1}}; }),
            "sgd: momentum: must be at least 0 and below 1");
  EXPECT_EQ(tests::problem_of([] { Sgd{{.nesterov = true}}; }),
            "sgd: nesterov: needs a momentum above 0");
}

}  // namespace
}  // namespace seqtrain::optim
