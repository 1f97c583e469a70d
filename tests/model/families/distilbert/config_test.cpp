#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/families/distilbert/config.hpp>

namespace seqtrain::model {
namespace {

auto distilbert_config(const std::string& members) {
  return read_distilbert_config(
      weights::ConfigFile::parse(R"({"model_type": "distilbert")" + members + "}"));
}

TEST(DistilBertConfig, HasKeysOfItsOwn) {
  const auto config = distilbert_config(R"(, "dim": 24, "n_layers": 3, "n_heads": 4,
    "hidden_dim": 40, "activation": "relu", "dropout": 0.3, "attention_dropout": 0.4,
    "seq_classif_dropout": 0.5, "sinusoidal_pos_embds": true, "type_vocab_size": 7)");
  EXPECT_EQ(config.hidden_size, 24);
  EXPECT_EQ(config.num_hidden_layers, 3);
  EXPECT_EQ(config.num_attention_heads, 4);
  EXPECT_EQ(config.intermediate_size, 40);
  EXPECT_EQ(config.hidden_act, "relu");
  EXPECT_EQ(config.hidden_dropout_prob, 0.3);
  EXPECT_EQ(config.attention_probs_dropout_prob, 0.4);
  EXPECT_EQ(config.classifier_dropout_prob(), 0.5);
  EXPECT_EQ(config.type_vocab_size, 0);
  EXPECT_EQ(distilbert_config(R"(, "n_heads": 12, "num_attention_heads": 8)").num_attention_heads,
            8);
}

}  // namespace
}  // namespace seqtrain::model
