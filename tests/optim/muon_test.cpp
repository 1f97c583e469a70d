#include <cstddef>
#include <string>
#include <vector>

#include <ATen/ops/linalg_svdvals.h>
#include <gtest/gtest.h>

#include <seqtrain/optim/muon.hpp>

#include "support/problem_of.hpp"
#include "support/rule_golden.hpp"

namespace seqtrain::optim {
namespace {

TEST(Muon, EqualsTorch) {
  const auto make = [](const json::Value& golden) {
    return Muon{{.lr = golden.at("lr").number(),
                 .momentum = golden.at("momentum").number(),
                 .weight_decay = golden.at("weight_decay").number()}};
  };
  EXPECT_EQ(tests::expect_reference_values("muon", make), 2U);
}

TEST(Muon, StepsMatricesOfLayersOnly) {
  const tests::OptimizerCase made;
  std::vector<std::string> hidden;
  for (auto parameter : made.parameters) {
    if (is_hidden_matrix(parameter)) hidden.push_back(parameter.name);
    parameter.role.reset();  // as in a torch::nn::Module
    EXPECT_FALSE(is_hidden_matrix(parameter)) << parameter.name;
  }
  EXPECT_EQ(hidden, (std::vector<std::string>{"layer.0.wide", "layer.1.tall"}));
  auto head = made.parameters[0];
  head.depth.part = tensor::Depth::Part::head;
  EXPECT_FALSE(is_hidden_matrix(head));
}

TEST(Orthogonalized, HasSingularValuesNear1) {
  const tests::OptimizerCase made;
  for (std::size_t p : {0U, 1U}) {
    made.set_gradients(3);
    const at::Tensor matrix = made.parameters[p].gradient;
    const at::Tensor values = at::linalg_svdvals(orthogonalized(matrix));
    EXPECT_LT(values.max().item<double>(), 1.25) << p;
    EXPECT_GT(values[0].item<double>(), 0.6) << p;
  }
  EXPECT_EQ(orthogonalized(made.parameters[0].gradient.mul(0)).count_nonzero().item<double>(), 0);
}

TEST(Muon, RefusesOptionsOutOfRange) {
  EXPECT_EQ(tests::problem_of([] { Muon{{.momentum = 1}}; }),
            "muon: momentum: must be at least 0 and below 1");
  EXPECT_EQ(tests::problem_of([] { Muon{{.eps = -1}}; }),
            "muon: eps: must be a number, not negative");
}

}  // namespace
}  // namespace seqtrain::optim
