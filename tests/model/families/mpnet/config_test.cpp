#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/families/mpnet/config.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::model {
namespace {

auto mpnet_config(const std::string& members) {
  return read_mpnet_config(weights::ConfigFile::parse(R"({"model_type": "mpnet")" + members + "}"));
}

TEST(MpnetConfig, AbsentKeysAreAsInTransformers) {
  const auto config = mpnet_config("");
  EXPECT_EQ(config.vocab_size, 30527);
  EXPECT_EQ(config.pad_token_id, 1);
  EXPECT_EQ(config.type_vocab_size, 0);
  EXPECT_EQ(length_after_padding(config), 510);
  EXPECT_EQ(mpnet_config(R"(, "pad_token_id": null)").pad_token_id, 1);
}

TEST(MpnetConfig, RefusesWhatTransformersDoesNotCompute) {
  EXPECT_EQ(tests::refusal([] { mpnet_config(R"(, "pad_token_id": 0)"); }),
            "config.json: pad_token_id: 0 is not supported; supported is 1");
  EXPECT_EQ(tests::refusal([] { mpnet_config(R"(, "relative_attention_num_buckets": 16)"); }),
            "config.json: relative_attention_num_buckets: 16 is not supported; supported is 32");
  EXPECT_EQ(tests::refusal([] { mpnet_config(R"(, "max_position_embeddings": 2)"); }),
            "config.json: max_position_embeddings: leaves no position after pad_token_id");
}

}  // namespace
}  // namespace seqtrain::model
