#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {
namespace {

using tensor::Depth;
using tensor::Role;

tensor::Parameter parameter_of(std::string name, std::optional<Role> role = {}, Depth depth = {}) {
  tensor::Parameter parameter;
  parameter.name = std::move(name);
  parameter.role = role;
  parameter.depth = depth;
  return parameter;
}

TEST(ParameterGroups, DecayByRole) {
  EXPECT_TRUE(decays(parameter_of("bias", Role::weight)));
  EXPECT_TRUE(decays(parameter_of("LayerNorm", Role::words)));
  EXPECT_FALSE(decays(parameter_of("weight", Role::bias)));
  EXPECT_FALSE(decays(parameter_of("weight", Role::scale)));
  EXPECT_FALSE(decays(parameter_of("weight", Role::distances)));
}

TEST(ParameterGroups, DecayByNameWithoutARole) {
  EXPECT_TRUE(decays(parameter_of("bert.encoder.layer.0.output.dense.weight")));
  EXPECT_TRUE(decays(parameter_of("bert.embeddings.word_embeddings.weight")));
  EXPECT_FALSE(decays(parameter_of("bert.encoder.layer.0.output.dense.bias")));
  EXPECT_FALSE(decays(parameter_of("bert.encoder.layer.0.output.LayerNorm.weight")));
  EXPECT_FALSE(decays(parameter_of("classifier.bias")));
}

TEST(ParameterGroups, LearnSlowerTheFartherTheyAreFromTheOutput) {
  const std::vector<std::vector<std::string>> groups{{"a"}, {"b", "c"}, {"d"}};
  const auto factors = discriminative(groups);
  EXPECT_EQ(factors.size(), 4U);
  EXPECT_EQ(factors.at("d"), 1);
  EXPECT_DOUBLE_EQ(factors.at("b"), 1 / 2.6);
  EXPECT_DOUBLE_EQ(factors.at("c"), 1 / 2.6);
  EXPECT_DOUBLE_EQ(factors.at("a"), 1 / 2.6 / 2.6);
  EXPECT_EQ(discriminative(groups, 1).at("a"), 1);
}

TEST(ParameterGroups, LearnSlowerFromLayerToLayerBelow) {
  using Part = Depth::Part;
  const std::vector<tensor::Parameter> parameters{
      parameter_of("words", {}, {Part::embedding}), parameter_of("a", {}, {Part::layer, 0}),
      parameter_of("b", {}, {Part::layer, 1}), parameter_of("layer.0.weight", {}, {Part::head}),
      parameter_of("unknown")};
  EXPECT_EQ(layerwise(parameters, 0.5),
            (LrFactors{
                {"words", 0.125}, {"a", 0.25}, {"b", 0.5}, {"layer.0.weight", 1}, {"unknown", 1}}));
  EXPECT_EQ(
      layerwise(parameters, 0.5, 10),
      (LrFactors{
          {"words", 0.125}, {"a", 0.25}, {"b", 0.5}, {"layer.0.weight", 10}, {"unknown", 10}}));
}

TEST(ParameterGroups, GiveAllButTheLastGroupATenth) {
  const std::vector<std::vector<std::string>> groups{{"a", "b"}, {"c"}, {"d"}};
  EXPECT_EQ(last_group_first(groups), (LrFactors{{"a", 0.1}, {"b", 0.1}, {"c", 0.1}, {"d", 1}}));
}

TEST(ParameterGroups, ToldByAModelThatHasDepths) {
  const auto head = parameter_of("classifier.weight", Role::weight, {Depth::Part::head});
  const auto layer = parameter_of("layer.weight", Role::weight, {Depth::Part::layer, 0});
  EXPECT_TRUE(tells_head(std::vector{layer, head}));
  EXPECT_FALSE(tells_head(std::vector{head, parameter_of("words.weight")}));
}

}  // namespace
}  // namespace seqtrain::optim
