#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {
namespace {

TEST(ParameterGroups, BiasAndLayerNormDoNotDecay) {
  EXPECT_TRUE(decays("bert.encoder.layer.0.output.dense.weight"));
  EXPECT_TRUE(decays("bert.embeddings.word_embeddings.weight"));
  EXPECT_FALSE(decays("bert.encoder.layer.0.output.dense.bias"));
  EXPECT_FALSE(decays("bert.encoder.layer.0.output.LayerNorm.weight"));
  EXPECT_FALSE(decays("classifier.bias"));
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
  std::vector<tensor::Parameter> parameters;
  for (const char* name :
       {"bert.embeddings.word_embeddings.weight", "bert.encoder.layer.0.output.dense.weight",
        "bert.encoder.layer.1.output.dense.bias", "bert.pooler.dense.weight", "classifier.bias"}) {
    parameters.emplace_back().name = name;
  }
  EXPECT_EQ(layerwise(parameters, 0.5),
            (LrFactors{{"bert.embeddings.word_embeddings.weight", 0.125},
                       {"bert.encoder.layer.0.output.dense.weight", 0.25},
                       {"bert.encoder.layer.1.output.dense.bias", 0.5},
                       {"bert.pooler.dense.weight", 1},
                       {"classifier.bias", 1}}));
}

TEST(ParameterGroups, GiveAllButTheLastGroupATenth) {
  const std::vector<std::vector<std::string>> groups{{"a", "b"}, {"c"}, {"d"}};
  EXPECT_EQ(last_group_first(groups), (LrFactors{{"a", 0.1}, {"b", 0.1}, {"c", 0.1}, {"d", 1}}));
}

}  // namespace
}  // namespace seqtrain::optim
