#include <gtest/gtest.h>

#include <seqtrain/model/families/roberta/config.hpp>

namespace seqtrain::model {
namespace {

TEST(RobertaConfig, HasPositionsAfterItsPadding) {
  const auto config =
      read_roberta_config(weights::ConfigFile::parse(R"({"model_type": "roberta"})"));
  EXPECT_EQ(length_after_padding(config), 510);
}

}  // namespace
}  // namespace seqtrain::model
