#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/families/deberta_v2/config.hpp>

namespace seqtrain::model {
namespace {

auto deberta_config(const std::string& members) {
  return read_deberta_v2_config(
      weights::ConfigFile::parse(R"({"model_type": "deberta-v2")" + members + "}"));
}

TEST(DebertaV2Config, AbsentKeysAreAsInTransformers) {
  const auto config = deberta_config("");
  EXPECT_EQ(config.embedding_size, 1536);
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

}  // namespace
}  // namespace seqtrain::model
