#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/families/modernbert/config.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::model {
namespace {

auto modernbert_config(const std::string& members) {
  return read_modernbert_config(
      weights::ConfigFile::parse(R"({"model_type": "modernbert")" + members + "}"));
}

TEST(ModernBertConfig, AbsentKeysAreAsInTransformers) {
  const auto config = modernbert_config("");
  EXPECT_FALSE(config.norm_bias || config.attention_bias || config.mlp_bias);
  EXPECT_FALSE(config.classifier_bias || config.mean_pooling);
  EXPECT_EQ(config.local_attention, 128);
  EXPECT_EQ(config.local_rope_theta, 10'000);
  EXPECT_EQ(config.global_rope_theta, 160'000);
  for (std::size_t i = 0; i < 22; ++i) EXPECT_EQ(config.is_local[i], i % 3 != 0);
}

TEST(ModernBertConfig, ReadsOldFilesAndNewOnes) {
  const auto old = modernbert_config(R"(, "num_hidden_layers": 4, "global_attn_every_n_layers": 2,
    "local_rope_theta": 100, "global_rope_theta": 1000.0)");
  EXPECT_EQ(old.is_local, (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(old.local_rope_theta, 100);
  EXPECT_EQ(old.global_rope_theta, 1000);
  EXPECT_EQ(modernbert_config(R"(, "local_rope_theta": null)").local_rope_theta, 160'000);
  const auto recent = modernbert_config(R"(, "num_hidden_layers": 2,
    "layer_types": ["sliding_attention", "full_attention"], "rope_parameters":
    {"full_attention": {"rope_theta": 7.0, "rope_type": "default"},
     "sliding_attention": {"rope_theta": 5.0, "rope_type": "default"}}, "norm_bias": true,
    "attention_bias": true, "mlp_bias": true, "classifier_bias": true,
    "classifier_pooling": "mean", "classifier_activation": "relu", "embedding_dropout": 0.1,
    "mlp_dropout": 0.2, "attention_dropout": 0.3, "classifier_dropout": 0.4)");
  EXPECT_EQ(recent.is_local, (std::vector<bool>{true, false}));
  EXPECT_EQ(recent.local_rope_theta, 5);
  EXPECT_EQ(recent.global_rope_theta, 7);
  EXPECT_TRUE(recent.norm_bias && recent.attention_bias && recent.mlp_bias);
  EXPECT_TRUE(recent.classifier_bias && recent.mean_pooling);
  EXPECT_EQ(recent.classifier_activation, "relu");
  EXPECT_EQ(recent.embedding_dropout, 0.1);
  EXPECT_EQ(recent.hidden_dropout_prob, 0.2);
  EXPECT_EQ(recent.attention_probs_dropout_prob, 0.3);
  EXPECT_EQ(recent.classifier_dropout_prob(), 0.4);
}

TEST(ModernBertConfig, OneRateSetsAllDropout) {
  auto config = modernbert_config("");
  config.set_dropout(0.3);
  EXPECT_EQ(config.embedding_dropout, 0.3);
  EXPECT_EQ(config.hidden_dropout_prob, 0.3);
}

TEST(ModernBertConfig, ReadsOtherSpellings) {
  EXPECT_EQ(modernbert_config(R"(, "sliding_window": 3)").local_attention, 6);
  EXPECT_NO_THROW(modernbert_config(R"(, "position_embedding_type": "sans_pos")"));
  EXPECT_EQ(modernbert_config(R"(, "initializer_cutoff_factor": null)").initializer_cutoff_factor,
            3);
  EXPECT_EQ(modernbert_config(R"(, "vocab_size": 9, "pad_token_id": null)").pad_token_id,
            weights::no_pad_token);
}

/// transformers 5 refuses parameters that are not by the type of a layer, too.
TEST(ModernBertConfig, NamesRotaryPositionsThatItDoesNotHave) {
  const auto problem = [](const std::string& members) {
    return tests::problem_of([&] { (void)modernbert_config(", " + members); });
  };
  EXPECT_EQ(problem(R"("rope_parameters": {"rope_type": "default", "rope_theta": 5000.0})"),
            "config.json: rope_parameters: has 'rope_type' and not the two types of layers; write "
            "{\"full_attention\": {…}, \"sliding_attention\": {…}}, each with its rope_type and "
            "rope_theta, as transformers does");
  EXPECT_EQ(problem(R"("rope_parameters": {"full_attention": {"rope_type": "yarn"}})"),
            "config.json: rope_parameters.full_attention.rope_type: 'yarn' is not supported; "
            "supported is default");
  EXPECT_EQ(problem(R"("rope_scaling": {"type": "linear", "factor": 2.0})"),
            "config.json: rope_scaling.type: 'linear' is not supported; supported is default");
  EXPECT_EQ(problem(R"("rope_parameters": {"sliding_attention": {"rope_theta": 0}})"),
            "config.json: rope_parameters.sliding_attention.rope_theta: is not above 0");
  EXPECT_EQ(problem(R"("global_rope_theta": -1)"),
            "config.json: global_rope_theta: is not above 0");
}

/// transformers fills the type that is missing, and takes rope_scaling for both.
TEST(ModernBertConfig, ReadsRotaryPositionsOfOneType) {
  const auto one =
      modernbert_config(R"(, "rope_parameters": {"full_attention": {"rope_theta": 7}})");
  EXPECT_EQ(one.global_rope_theta, 7);
  EXPECT_EQ(one.local_rope_theta, 10'000);
  const auto both =
      modernbert_config(R"(, "rope_scaling": {"rope_type": "default", "rope_theta": 44})");
  EXPECT_EQ(both.global_rope_theta, 44);
  EXPECT_EQ(both.local_rope_theta, 44);
}

}  // namespace
}  // namespace seqtrain::model
