#include <cstddef>
#include <cstdint>
#include <string>

#include <ATen/ops/empty_like.h>
#include <gtest/gtest.h>

#include <seqtrain/concepts/optimizer_choice.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/optim/adafactor.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/optim/lion.hpp>
#include <seqtrain/optim/make.hpp>
#include <seqtrain/optim/muon.hpp>
#include <seqtrain/optim/sgd.hpp>

#include "support/made_optimizer_case.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::optim {
namespace {

using tests::OptimizerCase;

/// Expects the chosen optimizer to take the same steps as `direct`.
template <class O>
void expect_equals(const Choice& choice, O direct) {
  const OptimizerCase one, other;
  Any any = make(choice, one.parameters);
  EXPECT_EQ(any.name(), name(choice.type));
  EXPECT_EQ(any.learning_rate(), choice.lr);
  one.take_steps(any, 0, 4);
  other.take_steps(direct, 0, 4);
  for (std::size_t p = 0; p < one.parameters.size(); ++p) {
    EXPECT_TRUE(one.parameters[p].value.equal(other.parameters[p].value))
        << any.name() << " " << one.parameters[p].name;
  }
}

TEST(Make, MakesEachOptimizerWithTheSharedOptions) {
  using Type = Choice::Type;
  expect_equals({.type = Type::adam, .lr = 0.1, .beta1 = 0.8, .weight_decay = 0.1},
                Adam{{.lr = 0.1, .beta1 = 0.8, .weight_decay = 0.1}});
  expect_equals({.type = Type::adamw, .lr = 0.1, .beta2 = 0.9, .eps = 0.1, .weight_decay = 0.1},
                AdamW{{.lr = 0.1, .beta2 = 0.9, .eps = 0.1, .weight_decay = 0.1}});
  expect_equals({.type = Type::adamw_8bit, .lr = 0.1, .weight_decay = 0.1},
                AdamW{{.lr = 0.1, .weight_decay = 0.1, .eight_bit = true}});
  expect_equals({.type = Type::lion, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.1},
                Lion{{.lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.1}});
  expect_equals({.type = Type::adafactor, .lr = 0.1, .weight_decay = 0.1},
                Adafactor{{.lr = 0.1, .weight_decay = 0.1, .scale_parameter = false}});
  expect_equals({.type = Type::sgd, .lr = 0.1, .momentum = 0.8, .weight_decay = 0.1},
                Sgd{{.lr = 0.1, .momentum = 0.8, .weight_decay = 0.1}});
  expect_equals({.type = Type::sgd, .lr = 0.1}, Sgd{{.lr = 0.1}});
  expect_equals({.type = Type::muon, .lr = 0.1, .beta1 = 0.8, .momentum = 0.5, .weight_decay = 0.1},
                Muon{{.lr = 0.1, .momentum = 0.5, .beta1 = 0.8, .weight_decay = 0.1}});
}

TEST(Make, GivesLayersTheirLearningRates) {
  const OptimizerCase made;
  expect_equals({.type = Choice::Type::lion, .lr = 0.1, .beta2 = 0.99, .layerwise_lr_decay = 0.5},
                Lion{{.lr = 0.1, .lr_factors = layerwise(made.parameters, 0.5)}});
  expect_equals({.type = Choice::Type::sgd, .lr = 0.25, .layerwise_lr_decay = 0.5, .head_lr = 0.5},
                Sgd{{.lr = 0.25, .lr_factors = layerwise(made.parameters, 0.5, 2)}});
}

TEST(Make, RefusesOptionsThatDoNotFit) {
  const OptimizerCase made;
  const auto problem = [&](const Choice& choice) {
    return tests::problem_of([&] { (void)make(choice, made.parameters); });
  };
  EXPECT_EQ(problem({.lr = -1}), "optimizer: lr: must be a number, not negative");
  EXPECT_EQ(problem({.momentum = 0.9}), "optimizer: momentum: is for sgd and muon");
  EXPECT_EQ(problem({.layerwise_lr_decay = 0}),
            "optimizer: layerwise_lr_decay: must be above 0 and at most 1");
  EXPECT_EQ(problem({.head_lr = -1}), "optimizer: head_lr: must be a number, not negative");
  EXPECT_EQ(problem({.lr = 0, .head_lr = 1}), "optimizer: head_lr: needs an lr above 0");
  OptimizerCase module;
  for (auto& parameter : module.parameters) parameter.depth = {};
  EXPECT_EQ(
      tests::problem_of([&] { (void)make({.head_lr = 1}, module.parameters); }),
      "optimizer: head_lr: is for a model that says which of its parameters are its head; give "
      "all of them one lr, or set Parameter::depth");
}

TEST(Make, RefusesMuonForAModelWithoutHiddenMatrices) {
  OptimizerCase made;
  made.parameters[0].gradient.reset();
  made.parameters[1].gradient.reset();
  EXPECT_EQ(tests::problem_of([&] { (void)make({.type = Choice::Type::muon}, made.parameters); }),
            "muon: trains matrices of layers, and none of this model's is trained; use adamw");
}

TEST(Make, RefusesEightBitMomentsOnADevice) {
  OptimizerCase made;
  made.parameters[0].value =
      at::empty_like(made.parameters[0].value, at::TensorOptions{}.device(at::kMeta));
  EXPECT_EQ(
      tests::problem_of([&] { (void)make({.type = Choice::Type::adamw_8bit}, made.parameters); }),
      "adamw-8bit: is for processors, and this device is meta; use adamw");
}

TEST(Make, ContinuesEachFromItsStateAndNoOtherOne) {
  for (const auto& [name, type] : optimizer_names) {
    const OptimizerCase straight, resumed;
    const Choice choice{.type = type, .lr = 0.05, .weight_decay = 0.1};
    Averaged optimizer{make(choice, straight.parameters), 0.9};
    straight.take_steps(optimizer, 0, 3);
    resumed.copy_values(straight);
    const auto state = optimizer.state();
    Averaged other{make(choice, resumed.parameters), 0.9};
    other.load_state(state.views(), resumed.parameters);
    straight.take_steps(optimizer, 3, 6);
    resumed.take_steps(other, 3, 6);
    for (std::size_t p = 0; p < resumed.parameters.size(); ++p) {
      EXPECT_TRUE(straight.parameters[p].value.equal(resumed.parameters[p].value)) << name;
    }
    for (const auto& [other_name, other_type] : optimizer_names) {
      if (other_type == type || type == Choice::Type::sgd) continue;  // sgd has no state
      Averaged wrong{make({.type = other_type}, resumed.parameters), 0.9};
      const std::string saved{name};
      EXPECT_EQ(tests::problem_of([&] { wrong.load_state(state.views(), resumed.parameters); }),
                "optimizer: the checkpoint's state is of " + saved + ", but this optimizer is " +
                    std::string{other_name} + "; continue with " + saved + ", or begin a new run");
    }
  }
}

}  // namespace
}  // namespace seqtrain::optim
