#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/families/deberta_v2/config.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::model {
namespace {

auto deberta_config(const std::string& members) {
  return read_deberta_v2_config(
      weights::ConfigFile::parse(R"({"model_type": "deberta-v2")" + members + "}"));
}

std::string deberta_refusal(const std::string& members) {
  return tests::refusal([&] { deberta_config(members); });
}

TEST(DebertaV2Config, AbsentKeysAreAsInTransformers) {
  const auto config = deberta_config("");
  EXPECT_EQ(config.vocab_size, 128100);
  EXPECT_EQ(config.hidden_size, 1536);
  EXPECT_EQ(config.embedding_size, 1536);
  EXPECT_EQ(config.type_vocab_size, 0);
  EXPECT_TRUE(config.position_biased_input);
  EXPECT_FALSE(config.relative_attention);
  EXPECT_EQ(config.span(), 512);
  EXPECT_EQ(config.conv_kernel_size, 0);
}

TEST(DebertaV2Config, ReadsListsInBothSpellings) {
  for (const auto* types : {R"(["p2c", "c2p"])", R"("p2c | c2p")", R"("C2P|P2C")"}) {
    const auto config = deberta_config(std::string{R"(, "pos_att_type": )"} + types);
    EXPECT_TRUE(config.content_to_position && config.position_to_content) << types;
  }
  EXPECT_FALSE(deberta_config(R"(, "pos_att_type": "p2c")").content_to_position);
  EXPECT_FALSE(deberta_config(R"(, "pos_att_type": "")").position_to_content);
  EXPECT_TRUE(deberta_config(R"(, "norm_rel_ebd": "layer_norm")").normalizes_distances);
  EXPECT_FALSE(deberta_config(R"(, "norm_rel_ebd": "none")").normalizes_distances);
}

TEST(DebertaV2Config, CountsDistancesByBucketsIfThereAreAny) {
  EXPECT_EQ(deberta_config(R"(, "position_buckets": 256, "max_relative_positions": -1)").span(),
            256);
  EXPECT_EQ(deberta_config(R"(, "position_buckets": -1, "max_relative_positions": 40)").span(), 40);
}

TEST(DebertaV2Config, RefusesWhatItCannotCompute) {
  EXPECT_EQ(deberta_refusal(R"(, "pos_att_type": "c2p|p2p")"),
            "config.json: pos_att_type: 'p2p' is not supported; supported are c2p, p2c");
  EXPECT_EQ(deberta_refusal(R"(, "norm_rel_ebd": "rms_norm")"),
            "config.json: norm_rel_ebd: 'rms_norm' is not supported; supported are layer_norm, "
            "none");
  EXPECT_EQ(deberta_refusal(R"(, "attention_head_size": 32)"),
            "config.json: attention_head_size: 32 is not supported; supported is 64");
  EXPECT_EQ(deberta_refusal(R"(, "pooler_hidden_size": 768)"),
            "config.json: pooler_hidden_size: 768 is not supported; supported is 1536");
  EXPECT_EQ(deberta_refusal(R"(, "conv_kernel_size": 4)"),
            "config.json: conv_kernel_size: 4 is not odd");
  EXPECT_EQ(deberta_refusal(R"(, "conv_kernel_size": 3, "conv_act": "silu")"),
            "config.json: conv_act: 'silu' is not supported; supported are tanh, gelu, gelu_new, "
            "gelu_pytorch_tanh, relu");
  EXPECT_EQ(deberta_refusal(R"(, "position_buckets": 1)"),
            "config.json: position_buckets: 1 is not from 2 to twice max_relative_positions");
  EXPECT_EQ(deberta_refusal(R"(, "num_hidden_layers": 10001)"),
            "config.json: num_hidden_layers: 10001 is above 10000");
  EXPECT_EQ(deberta_refusal(R"(, "type_vocab_size": -1)"),
            "config.json: type_vocab_size: negative");
}

}  // namespace
}  // namespace seqtrain::model
