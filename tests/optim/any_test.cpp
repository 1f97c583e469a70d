#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/optim/any.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/optim/lion.hpp>
#include <seqtrain/optim/sgd.hpp>

#include "support/made_optimizer_case.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::optim {
namespace {

static_assert(Optimizer<Any> && Optimizer<Averaged<Any>>);

/// An optimizer of a user's own whose step returns nothing.
struct Still {
  using parameter_type = tensor::Parameter;
  void step(std::span<const tensor::Parameter>, Step) { ++steps; }
  double learning_rate() const { return 0.5; }
  tensor::StateDict state() const { return {}; }
  void load_state(std::span<const weights::TensorView>, std::span<const tensor::Parameter>) {}
  int steps = 0;
};

TEST(Any, TakesTheStepsOfItsOptimizer) {
  const tests::OptimizerCase one, other;
  one.set_gradients(1);
  other.set_gradients(1);
  Any any{Lion{{.lr = 0.1}}, "lion"};
  any.step(one.parameters, {.max_grad_norm = 1});
  Lion{{.lr = 0.1}}.step(other.parameters, {.max_grad_norm = 1});
  EXPECT_EQ(any.learning_rate(), 0.1);
  for (std::size_t p = 0; p < one.parameters.size(); ++p) {
    EXPECT_TRUE(one.parameters[p].value.equal(other.parameters[p].value));
  }
}

TEST(Any, HoldsAnOptimizerOfAUsersOwn) {
  Any any{Still{}};
  EXPECT_EQ(any.step({}, {}).problem(), "");
  EXPECT_EQ(any.learning_rate(), 0.5);
  EXPECT_TRUE(any.state().views().empty());
  any.exchange_averages({});
}

TEST(Any, ExchangesAveragesIfItsOptimizerDoes) {
  const tests::OptimizerCase made;
  Any any{Averaged{Sgd{{.lr = 0.5}}, 0.9}};
  for (int step = 0; step < 3; ++step) {
    made.set_gradients(step);
    any.step(made.parameters, {});
  }
  const at::Tensor value = made.parameters[0].value.clone();
  any.exchange_averages(made.parameters);
  EXPECT_FALSE(made.parameters[0].value.equal(value));
  any.exchange_averages(made.parameters);
  EXPECT_TRUE(made.parameters[0].value.equal(value));
}

TEST(Any, NamesItsOptimizerInItsState) {
  const tests::OptimizerCase made;
  made.set_gradients(1);
  Any lion{Lion{{.lr = 0.1}}, "lion"}, own{Lion{{.lr = 0.1}}};
  EXPECT_TRUE(lion.state().views().empty());
  lion.step(made.parameters, {});
  own.step(made.parameters, {});
  EXPECT_EQ(lion.state().views().back().name, "optimizer.lion");
  EXPECT_EQ(own.state().views().back().name, "words.exp_avg");
  EXPECT_EQ(tests::problem_of([&] { own.load_state(lion.state().views(), made.parameters); }),
            "optimizer: the checkpoint's state is of lion, but this optimizer is one of another "
            "type; continue with lion, or begin a new run");
  lion.load_state(own.state().views(), made.parameters);
}

}  // namespace
}  // namespace seqtrain::optim
