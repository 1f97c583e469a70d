#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <support/dist_worlds.hpp>
#include <support/made_parameters.hpp>

#include <seqtrain/dist/exchange.hpp>
#include <seqtrain/dist/gradient_copy.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/tree.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::dist {
namespace {

using tests::MadeParameters;

struct Outcome {
  std::string gradients;
  std::vector<float> losses;
  bool stops = false;
};

/// Returns the outcomes of a step of `parts` parts on `ranks` ranks. The rank `stops` asks to stop.
std::vector<Outcome> exchanged(int ranks, std::int64_t replicas, std::int64_t parts,
                               Reduction reduction = Reduction::exact, int stops = -1) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  const auto errors = tests::on_threads(tests::local_worlds(ranks), [&](const World& world) {
    auto group = Group::connect(world);
    Exchange exchange{group, replicas, reduction};
    auto& outcome = outcomes[static_cast<std::size_t>(world.rank)];
    MadeParameters parameters;
    for (int step = 0; step < 2; ++step) {  // The second step reuses memory of the first.
      for (const auto& parameter : parameters.all) {
        if (parameter.gradient.defined()) parameter.gradient.zero_();
      }
      tensor::forget_touched(parameters.all[0]);
      const Leaves held = leaves_of(world.rank, ranks, replicas);
      const at::Tensor losses = at::zeros({parts});
      std::vector<GradientCopy> before;
      const auto subtrees = largest_subtrees({0, parts}, held);
      for (const Leaves& subtree : subtrees) {
        if (subtree != subtrees.front()) before.emplace_back().take(parameters.all);
        parameters.add_tree(subtree);
        for (std::int64_t leaf = subtree.first; leaf < subtree.last; ++leaf) {
          losses.mutable_data_ptr<float>()[leaf] = static_cast<float>(leaf) + 0.5F;
        }
      }
      exchange.begin({parameters.all, before, losses}, parts);
      exchange.ready(3);
      outcome.stops = exchange.finish(world.rank == stops);
      outcome.losses.assign(losses.const_data_ptr<float>(), losses.const_data_ptr<float>() + parts);
    }
    outcome.gradients = parameters.bytes();
  });
  EXPECT_EQ(errors, std::vector<std::string>(errors.size()));
  return outcomes;
}

TEST(Exchange, GivesEveryRankTheBitsOfOneProcess) {
  struct Case {
    int ranks;
    std::int64_t replicas, parts;
  };
  for (const auto& [ranks, replicas, parts] :
       {Case{2, 2, 2}, Case{2, 5, 5}, Case{3, 4, 4}, Case{4, 7, 7}, Case{3, 7, 2}, Case{2, 8, 1}}) {
    MadeParameters alone;
    alone.add_tree({0, parts});
    for (const Outcome& outcome : exchanged(ranks, replicas, parts)) {
      EXPECT_TRUE(outcome.gradients == alone.bytes()) << ranks << " " << replicas << " " << parts;
      EXPECT_EQ(outcome.losses.front(), 0.5F);
      EXPECT_EQ(outcome.losses.back(), static_cast<float>(parts) - 0.5F);
      EXPECT_FALSE(outcome.stops);
    }
  }
}

TEST(Exchange, TellsAllRanksOfAStop) {
  for (const Outcome& outcome : exchanged(3, 3, 3, Reduction::exact, 2)) {
    EXPECT_TRUE(outcome.stops);
  }
}

TEST(Exchange, AddsUpByRing) {
  MadeParameters alone;
  alone.add_tree({0, 4});
  const auto outcomes = exchanged(2, 4, 4, Reduction::ring);
  const std::string expected = alone.bytes();
  ASSERT_EQ(outcomes[0].gradients.size(), expected.size());
  EXPECT_TRUE(outcomes[0].gradients == outcomes[1].gradients);
  for (std::size_t i = 0; i < expected.size(); i += sizeof(float)) {
    float a = 0, b = 0;
    std::memcpy(&a, expected.data() + i, sizeof a);
    std::memcpy(&b, outcomes[0].gradients.data() + i, sizeof b);
    ASSERT_NEAR(a, b, 1e-5F * std::max(1.0F, std::abs(a))) << i;
  }
}

TEST(Exchange, EndsWithTheErrorOfARankThatAbandonsTheStep) {
  const auto errors = tests::on_threads(tests::local_worlds(2), [&](const World& world) {
    auto group = Group::connect(world);
    Exchange exchange{group, 2, Reduction::exact};
    MadeParameters parameters;
    parameters.add_leaf(world.rank);
    exchange.begin({parameters.all, {}, at::zeros({2})}, 2);
    if (world.rank == 1) {
      exchange.abandon("out of memory");
      throw Error{"rank 1 ends"};
    }
    (void)exchange.finish(false);
  });
  EXPECT_NE(errors[0].find("rank 1 of 2"), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("out of memory"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[1], "rank 1 ends");
}

TEST(Exchange, KnowsReductionsByName) {
  EXPECT_EQ(reduction_named("exact"), Reduction::exact);
  EXPECT_EQ(reduction_named("ring"), Reduction::ring);
  EXPECT_THROW((void)reduction_named("tree"), InputError);
}

}  // namespace
}  // namespace seqtrain::dist
