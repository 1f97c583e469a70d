#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {
namespace {

static_assert(Optimizer<Averaged<Adam>>);

/// Two parameters, of which the second is frozen.
std::vector<tensor::Parameter> one_and_a_frozen() {
  return {{.name = "w", .value = at::full({3}, 2.0), .gradient = at::zeros({3})},
          {.name = "frozen", .value = at::full({2}, 5.0), .gradient = {}}};
}

float value_of(const tensor::Parameter& parameter) {
  return parameter.value.const_data_ptr<float>()[1];
}

void take_step(Averaged<Adam>& optimizer, const std::vector<tensor::Parameter>& parameters,
               double gradient = 1) {
  parameters[0].gradient.fill_(gradient);
  optimizer.step(parameters, {});
}

TEST(Averaged, FollowsTheFormula) {
  const auto parameters = one_and_a_frozen();
  Averaged optimizer{Adam{{.lr = 0.1}}, 0.5};
  double average = 0;
  for (int t = 1; t <= 30; ++t) {
    take_step(optimizer, parameters, std::cos(t));
    const double value = value_of(parameters[0]);
    const double decay = std::min(0.5, (1.0 + t) / (10.0 + t));  // 0.5 from step 8 on
    average = t == 1 ? value : decay * average + (1 - decay) * value;
    optimizer.exchange_averages(parameters);
    EXPECT_NEAR(value_of(parameters[0]), average, 1e-6) << t;
    EXPECT_EQ(value_of(parameters[1]), 5);
    optimizer.exchange_averages(parameters);
    EXPECT_EQ(value_of(parameters[0]), static_cast<float>(value)) << t;
  }
}

TEST(Averaged, AnExchangeCountsAsAChangeOfTheValues) {
  const auto parameters = one_and_a_frozen();
  Averaged optimizer{Adam{}, 0.9};
  take_step(optimizer, parameters);
  const auto before = tensor::changes_of(parameters[0].value);
  optimizer.exchange_averages(parameters);
  EXPECT_GT(tensor::changes_of(parameters[0].value), before);
}

TEST(Averaged, BeginsAnewAfterAFitThatEndedWithTheAverages) {
  const auto parameters = one_and_a_frozen();
  Averaged optimizer{Adam{{.lr = 0.1}}, 0.9};
  for (int t = 0; t < 3; ++t) take_step(optimizer, parameters);
  optimizer.exchange_averages(parameters);
  take_step(optimizer, parameters);
  const float value = value_of(parameters[0]);
  optimizer.exchange_averages(parameters);
  EXPECT_EQ(value_of(parameters[0]), value);
}

TEST(Averaged, WithoutADecayIsTheOptimizer) {
  const auto averaged = one_and_a_frozen(), plain = one_and_a_frozen();
  Averaged optimizer{Adam{}, 0};
  Adam adam;
  for (int t = 0; t < 3; ++t) {
    take_step(optimizer, averaged);
    plain[0].gradient.fill_(1);
    adam.step(plain, {});
  }
  optimizer.exchange_averages(averaged);
  EXPECT_EQ(value_of(averaged[0]), value_of(plain[0]));
  EXPECT_EQ(optimizer.state().views().size(), adam.state().views().size());
}

TEST(Averaged, ContinuesFromItsStateToTheSameBits) {
  const auto whole = one_and_a_frozen(), parts = one_and_a_frozen();
  Averaged first{Adam{{.lr = 0.1}}, 0.9}, second{Adam{{.lr = 0.1}}, 0.9};
  for (int t = 0; t < 4; ++t) take_step(first, whole, t);
  parts[0].value.copy_(whole[0].value);
  second.load_state(first.state().views(), parts);
  for (int t = 4; t < 9; ++t) {
    take_step(first, whole, t);
    take_step(second, parts, t);
  }
  first.exchange_averages(whole);
  second.exchange_averages(parts);
  EXPECT_EQ(value_of(whole[0]), value_of(parts[0]));
}

TEST(Averaged, RefusesStateOfOtherParameters) {
  const auto parameters = one_and_a_frozen();
  Averaged optimizer{Adam{}, 0.9};
  take_step(optimizer, parameters);
  const auto state = optimizer.state();
  auto others = one_and_a_frozen();
  others[0].name = "v";
  EXPECT_THROW(optimizer.load_state(state.views(), others), InputError);
  others = one_and_a_frozen();
  others[0].value = at::zeros({4});
  EXPECT_THROW(optimizer.load_state(state.views(), others), InputError);
  EXPECT_NO_THROW(optimizer.load_state({}, parameters));
}

TEST(Averaged, RefusesADecayOutsideItsRange) {
  for (const double decay : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((Averaged{Adam{}, decay}), InputError) << decay;
  }
}

}  // namespace
}  // namespace seqtrain::optim
