#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_sign.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/optim/adafactor.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/optim/lion.hpp>
#include <seqtrain/optim/muon.hpp>
#include <seqtrain/optim/sgd.hpp>

#include "support/made_optimizer_case.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::optim {
namespace {

using tests::OptimizerCase;

/// A rule of a user's own that has the fewest members.
struct SignRule {
  using Options = RuleOptions;
  Options options;

  StateTensors fresh(const tensor::Parameter&) const { return {}; }
  void update(const Group<>& group, const Rates& rates) const {
    group.decay(rates);
    at::_foreach_add_(group.values, at::_foreach_sign(group.gradients), -rates.lr);
  }
};
using SignDescent = ByRule<SignRule>;

struct Momentum : Sgd {
  explicit Momentum(SgdOptions options = {}) : Sgd{with_momentum(std::move(options))} {}
  static SgdOptions with_momentum(SgdOptions options) {
    options.momentum = 0.9;
    return options;
  }
};

template <class O>
struct EachRule : testing::Test {};
using Optimizers =
    testing::Types<Adam, AdamW, Lion, Adafactor, Sgd, Momentum, Muon, SignDescent, Averaged<Lion>>;
TYPED_TEST_SUITE(EachRule, Optimizers);

template <class O>
O optimizer_with(double lr, double weight_decay = 0, LrFactors factors = {}) {
  if constexpr (std::same_as<O, Averaged<Lion>>) {
    return O{optimizer_with<Lion>(lr, weight_decay, std::move(factors)), 0.9};
  } else {
    typename O::Options options;
    options.lr = lr;
    options.weight_decay = weight_decay;
    options.lr_factors = std::move(factors);
    return O{std::move(options)};
  }
}

/// Returns the bytes of a state with the names of its tensors.
std::string bytes_of(const tensor::StateDict& state) {
  std::string bytes;
  for (const auto& view : state.views()) {
    bytes.append(view.name).append(reinterpret_cast<const char*>(view.bytes.data()),
                                   view.bytes.size());
  }
  return bytes;
}

bool equal(const OptimizerCase& one, const OptimizerCase& other) {
  for (std::size_t p = 0; p < one.parameters.size(); ++p) {
    if (!one.parameters[p].value.equal(other.parameters[p].value)) return false;
  }
  return true;
}

TYPED_TEST(EachRule, IsAnOptimizer) {
  static_assert(Optimizer<TypeParam>);
  EXPECT_EQ(optimizer_with<TypeParam>(0.25).learning_rate(), 0.25);
}

TYPED_TEST(EachRule, GoesOnExactlyFromItsState) {
  const OptimizerCase straight, resumed;
  auto optimizer = optimizer_with<TypeParam>(0.05, 0.1);
  straight.take_steps(optimizer, 0, 5);
  resumed.copy_values(straight);
  auto other = optimizer_with<TypeParam>(0.05, 0.1);
  other.load_state(optimizer.state().views(), resumed.parameters);
  straight.take_steps(optimizer, 5, 10);
  resumed.take_steps(other, 5, 10);
  EXPECT_TRUE(equal(straight, resumed));
  EXPECT_EQ(bytes_of(optimizer.state()), bytes_of(other.state()));
}

TYPED_TEST(EachRule, LeavesAllAsItIsWhereAGradientIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const OptimizerCase made, before;
    auto optimizer = optimizer_with<TypeParam>(0.05, 0.1);
    made.take_steps(optimizer, 0, 3);
    before.copy_values(made);
    const auto state = bytes_of(optimizer.state());
    made.set_gradients(3);
    made.parameters[3].gradient[1] = bad;
    Outcome outcome = optimizer.step(made.parameters, {.max_grad_norm = 1});
    EXPECT_TRUE(outcome.known());
    EXPECT_EQ(outcome.problem(), "the gradient of bias is not finite");
    EXPECT_TRUE(equal(made, before));
    if constexpr (!std::same_as<TypeParam, Averaged<Lion>>) {  // whose steps count anyway
      EXPECT_EQ(bytes_of(optimizer.state()), state);
    }
    for (const auto& parameter : made.parameters) {
      EXPECT_EQ(parameter.gradient.count_nonzero().template item<std::int64_t>(), 0);
    }
  }
}

TYPED_TEST(EachRule, LeavesGradientsZeroAndFrozenParametersAlone) {
  OptimizerCase made;
  const OptimizerCase before;
  made.parameters[0].gradient.reset();
  auto optimizer = optimizer_with<TypeParam>(0.05, 0.1);
  made.set_gradients(1);
  optimizer.step(made.parameters, {});
  EXPECT_TRUE(made.parameters[0].value.equal(before.parameters[0].value));
  for (std::size_t p = 1; p < made.parameters.size(); ++p) {
    EXPECT_FALSE(made.parameters[p].value.equal(before.parameters[p].value)) << p;
    EXPECT_EQ(made.parameters[p].gradient.count_nonzero().template item<std::int64_t>(), 0) << p;
  }
  EXPECT_EQ(bytes_of(optimizer.state()).find("layer.0.wide"), std::string::npos);
  EXPECT_EQ(optimizer.step({}, {}).problem(), "");
}

TYPED_TEST(EachRule, DividesGradientsByTheirLossScale) {
  OptimizerCase scaled;
  const OptimizerCase plain;
  const auto scale = std::make_shared<tensor::LossScale>(at::kCPU);
  for (auto& parameter : scaled.parameters) parameter.loss_scale = scale;
  auto one = optimizer_with<TypeParam>(0.05), other = optimizer_with<TypeParam>(0.05);
  for (std::int64_t step = 0; step < 3; ++step) {
    scaled.set_gradients(step, 65536);
    plain.set_gradients(step);
    Outcome outcome = one.step(scaled.parameters, {.max_grad_norm = 1});
    other.step(plain.parameters, {.max_grad_norm = 1});
    EXPECT_EQ(outcome.problem(), "");
    EXPECT_EQ(outcome.loss_scale(), 65536);
    EXPECT_EQ(scale->steps.item<int>(), step + 1);
  }
  for (std::size_t p = 0; p < plain.parameters.size(); ++p) {
    EXPECT_TRUE(scaled.parameters[p].value.allclose(plain.parameters[p].value, 1e-4, 1e-5)) << p;
  }
  scaled.parameters[0].gradient[0][0] = std::numeric_limits<float>::infinity();
  EXPECT_NE(one.step(scaled.parameters, {}).problem(), "");
  EXPECT_EQ(scale->value.template item<float>(), 32768);
  const tensor::StateDict state = one.state();
  scale->value = at::full({}, 1, at::kFloat);
  auto resumed = optimizer_with<TypeParam>(0.05);
  resumed.load_state(state.views(), scaled.parameters);
  EXPECT_EQ(scale->value.template item<float>(), 32768);
}

TYPED_TEST(EachRule, ScalesTheLearningRateByTheParametersName) {
  const OptimizerCase before, plain, scaled;
  auto one = optimizer_with<TypeParam>(0.01);
  auto other = optimizer_with<TypeParam>(0.01, 0, {{"bias", 0.5}, {"words", 0}, {"nobody", 9}});
  plain.set_gradients(1);
  scaled.set_gradients(1);
  one.step(plain.parameters, {});
  other.step(scaled.parameters, {});
  const auto moved = [&](const OptimizerCase& made, std::size_t p) {
    return made.parameters[p].value.sub(before.parameters[p].value);
  };
  EXPECT_TRUE(moved(scaled, 0).equal(moved(plain, 0)));
  EXPECT_TRUE(moved(scaled, 3).allclose(moved(plain, 3).mul(0.5), 1e-4, 1e-6));
  EXPECT_EQ(moved(scaled, 2).count_nonzero().template item<std::int64_t>(), 0);
}

TYPED_TEST(EachRule, DecaysWhatTheModelSays) {
  const OptimizerCase plain, decayed;
  auto one = optimizer_with<TypeParam>(0.1), other = optimizer_with<TypeParam>(0.1, 0.5);
  plain.take_steps(one, 0, 3);
  decayed.take_steps(other, 0, 3);
  const bool all = std::same_as<TypeParam, Adam> || std::derived_from<TypeParam, Sgd>;
  for (std::size_t p = 0; p < plain.parameters.size(); ++p) {
    const auto& parameter = plain.parameters[p];
    const bool same = parameter.value.equal(decayed.parameters[p].value);
    EXPECT_EQ(same, !all && !decays(parameter)) << parameter.name;
  }
}

TYPED_TEST(EachRule, CountsItsChangesOfValues) {
  const OptimizerCase made;
  made.set_gradients(1);
  const auto before = tensor::changes_of(made.parameters[0].value);
  auto optimizer = optimizer_with<TypeParam>(0.1);
  optimizer.step(made.parameters, {});
  EXPECT_GT(tensor::changes_of(made.parameters[0].value), before);
}

TYPED_TEST(EachRule, ForgetsTouchedRowsWithTheirGradients) {
  OptimizerCase made;
  made.parameters[2].touched = std::make_shared<tensor::RowSet>(5);
  made.set_gradients(1);
  made.parameters[2].touched->insert(1);
  auto optimizer = optimizer_with<TypeParam>(0.1);
  optimizer.step(made.parameters, {});
  made.parameters[2].touched->for_each_run([](std::size_t, std::size_t) { FAIL(); });
}

TYPED_TEST(EachRule, RefusesStateThatDoesNotFit) {
  OptimizerCase made;
  auto optimizer = optimizer_with<TypeParam>(0.1);
  made.take_steps(optimizer, 0, 1);
  const auto state = optimizer.state();
  std::vector<weights::TensorView> views{state.views().begin(), state.views().end()};
  if (!views.empty()) {
    auto misshaped = views;
    misshaped[0].shape = {99};
    EXPECT_THROW(optimizer_with<TypeParam>(0.1).load_state(misshaped, made.parameters), InputError);
  } else {
    views.push_back({.name = "", .dtype = weights::DType::u8, .shape = {0}, .bytes = {}});
  }
  views.push_back(views[0]);
  views.back().name = "nobody.exp_avg";
  EXPECT_EQ(tests::problem_of([&] {
              optimizer_with<TypeParam>(0.1).load_state({&views.back(), 1}, made.parameters);
            }),
            "nobody.exp_avg: belongs to no parameter");
  EXPECT_NO_THROW(optimizer_with<TypeParam>(0.1).load_state({}, made.parameters));
}

TYPED_TEST(EachRule, RefusesOptionsOutOfRange) {
  EXPECT_THROW(optimizer_with<TypeParam>(-1), InputError);
  EXPECT_THROW(optimizer_with<TypeParam>(std::nan("")), InputError);
  EXPECT_THROW(optimizer_with<TypeParam>(1, -1), InputError);
  EXPECT_THROW(optimizer_with<TypeParam>(1, 0, {{"bias", -1}}), InputError);
}

}  // namespace
}  // namespace seqtrain::optim
