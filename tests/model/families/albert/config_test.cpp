#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/families/albert/config.hpp>

namespace seqtrain::model {
namespace {

auto albert_config(const std::string& members) {
  return read_albert_config(
      weights::ConfigFile::parse(R"({"model_type": "albert")" + members + "}"));
}

TEST(AlbertConfig, AbsentKeysAreAsInTransformers) {
  const auto config = albert_config("");
  EXPECT_EQ(config.embedding_size, 128);
  EXPECT_EQ(config.num_hidden_groups, 1);
  EXPECT_EQ(config.inner_group_num, 1);
}

TEST(AlbertConfig, ReadsItsGroups) {
  const auto config = albert_config(R"(, "num_hidden_groups": 3, "inner_group_num": 2,
    "classifier_dropout_prob": 0.4, "embedding_size": 32)");
  EXPECT_EQ(config.num_hidden_groups, 3);
  EXPECT_EQ(config.inner_group_num, 2);
  EXPECT_EQ(config.embedding_size, 32);
  EXPECT_EQ(config.classifier_dropout_prob(), 0.4);
}

}  // namespace
}  // namespace seqtrain::model
