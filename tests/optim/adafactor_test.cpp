#include <cstddef>

#include <gtest/gtest.h>

#include <seqtrain/optim/adafactor.hpp>

#include "support/problem_of.hpp"
#include "support/rule_golden.hpp"

namespace seqtrain::optim {
namespace {

TEST(Adafactor, EqualsTorch) {
  const auto make = [](const json::Value& golden) {
    return Adafactor{{.lr = golden.at("lr").number(),
                      .beta2_decay = tests::number_in(golden, "beta2_decay", -0.8),
                      .d = tests::number_in(golden, "d", 1),
                      .weight_decay = golden.at("weight_decay").number()}};
  };
  EXPECT_EQ(tests::expect_reference_values("adafactor", make), 2U);
}

TEST(Adafactor, StepsByTheLearningRateIfParametersDoNotScaleIt) {
  const tests::OptimizerCase scaled, plain, before;
  Adafactor{{.lr = 0.01}}.step(scaled.parameters, {});
  scaled.set_gradients(1);
  plain.set_gradients(1);
  Adafactor{{.lr = 0.01}}.step(scaled.parameters, {});
  Adafactor{{.lr = 0.01, .scale_parameter = false}}.step(plain.parameters, {});
  for (std::size_t p = 0; p < plain.parameters.size(); ++p) {
    const at::Tensor& start = before.parameters[p].value;
    const auto size = start.square().mean().sqrt();
    const auto expected = start.add(plain.parameters[p].value.sub(start).mul(size));
    EXPECT_TRUE(scaled.parameters[p].value.allclose(expected, 1e-5, 1e-6)) << p;
  }
  // The first update of a vector is the sign of its gradient.
  EXPECT_NEAR(plain.parameters[3].value.sub(before.parameters[3].value).abs().max().item<double>(),
              0.01, 1e-6);
}

TEST(Adafactor, KeepsANumberForEachRowAndColumn) {
  const tests::OptimizerCase made;
  Adafactor adafactor;
  made.set_gradients(1);
  adafactor.step(made.parameters, {});
  const auto state = adafactor.state();
  std::size_t bytes = 0;
  for (const auto& view : state.views()) bytes += view.bytes.size();
  EXPECT_EQ(bytes, 4U * (4 + 6 + 7 + 3 + 5 + 4 + 4 + 5 + 1 + 6));
}

TEST(Adafactor, RefusesOptionsOutOfRange) {
  EXPECT_EQ(tests::problem_of([] { Adafactor{{.beta2_decay = 0.5}}; }),
            "adafactor: beta2_decay: must be a number, not positive");
  EXPECT_EQ(tests::problem_of([] { Adafactor{{.eps = -1}}; }),
            "adafactor: eps: must be a number, not negative");
  EXPECT_EQ(tests::problem_of([] { Adafactor{{.d = 0}}; }),
            "adafactor: d: must be a number, at least 1");
}

}  // namespace
}  // namespace seqtrain::optim
