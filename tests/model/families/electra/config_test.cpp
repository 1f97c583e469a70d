#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/families/electra/config.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::model {
namespace {

auto electra_config(const std::string& members) {
  return read_electra_config(
      weights::ConfigFile::parse(R"({"model_type": "electra")" + members + "}"));
}

TEST(ElectraConfig, AbsentKeysAreAsInTransformers) {
  const auto config = electra_config("");
  EXPECT_EQ(config.embedding_size, 128);
  EXPECT_EQ(config.hidden_size, 256);
  EXPECT_EQ(config.num_hidden_layers, 12);
  EXPECT_EQ(config.num_attention_heads, 4);
  EXPECT_EQ(config.intermediate_size, 1024);
}

TEST(ElectraConfig, ReadsTheSizeOfEmbeddings) {
  EXPECT_EQ(electra_config(R"(, "embedding_size": 64)").embedding_size, 64);
  EXPECT_EQ(tests::refusal([] { electra_config(R"(, "embedding_size": 0)"); }),
            "config.json: embedding_size: 0 is not a whole number from 1 to 2147483647");
}

}  // namespace
}  // namespace seqtrain::model
