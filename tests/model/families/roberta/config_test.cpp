#include <gtest/gtest.h>

#include <seqtrain/model/families/roberta/config.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::model {
namespace {

weights::ModelConfig roberta_config(const char* text) {
  return read_roberta_config(weights::ConfigFile::parse(text));
}

TEST(RobertaConfig, AbsentKeysAreAsInTransformers) {
  const auto config = roberta_config(R"({"model_type": "roberta"})");
  EXPECT_EQ(config.vocab_size, 50265);
  EXPECT_EQ(config.pad_token_id, 1);
  EXPECT_EQ(config.max_position_embeddings, 512);
  EXPECT_EQ(length_after_padding(config), 510);
}

TEST(RobertaConfig, NeedsPositionsAfterItsPadding) {
  const auto refused = tests::refusal(
      [] { roberta_config(R"({"model_type": "roberta", "max_position_embeddings": 2})"); });
  EXPECT_EQ(refused, "config.json: max_position_embeddings: leaves no position after pad_token_id");
  const auto null =
      tests::refusal([] { roberta_config(R"({"model_type": "roberta", "pad_token_id": null})"); });
  EXPECT_TRUE(null.starts_with("config.json: pad_token_id: null is not supported")) << null;
}

}  // namespace
}  // namespace seqtrain::model
