#include <gtest/gtest.h>

#include <seqtrain/optim/parameter_groups.hpp>

namespace seqtrain::optim {
namespace {

TEST(ParameterGroups, BiasAndLayerNormDoNotDecay) {
  EXPECT_TRUE(decays("bert.encoder.layer.0.output.dense.weight"));
  EXPECT_TRUE(decays("bert.embeddings.word_embeddings.weight"));
  EXPECT_FALSE(decays("bert.encoder.layer.0.output.dense.bias"));
  EXPECT_FALSE(decays("bert.encoder.layer.0.output.LayerNorm.weight"));
  EXPECT_FALSE(decays("classifier.bias"));
}

}  // namespace
}  // namespace seqtrain::optim
