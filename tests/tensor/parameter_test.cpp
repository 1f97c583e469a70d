#include <optional>

#include <gtest/gtest.h>

#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::tensor {
namespace {

TEST(Parameter, NamesItsLayer) {
  EXPECT_EQ(layer_of("bert.encoder.layer.11.attention.self.query.weight"), 11);
  EXPECT_EQ(layer_of("model.layers.0.mlp.Wi.weight"), 0);
  EXPECT_EQ(layer_of("albert.encoder.albert_layer_groups.1.albert_layers.0.ffn.bias"), 1);
  EXPECT_EQ(layer_of("bert.embeddings.LayerNorm.weight"), std::nullopt);
  EXPECT_EQ(layer_of("lstm_layer2.weight"), std::nullopt);
  EXPECT_EQ(layer_of(""), std::nullopt);
}

}  // namespace
}  // namespace seqtrain::tensor
