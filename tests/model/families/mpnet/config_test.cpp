#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/families/mpnet/config.hpp>

namespace seqtrain::model {
namespace {

auto mpnet_config(const std::string& members) {
  return read_mpnet_config(weights::ConfigFile::parse(R"({"model_type": "mpnet")" + members + "}"));
}

TEST(MpnetConfig, HasPositionsAfterItsPadding) {
  EXPECT_EQ(length_after_padding(mpnet_config("")), 510);
  EXPECT_EQ(mpnet_config(R"(, "pad_token_id": null)").pad_token_id, 1);
}

}  // namespace
}  // namespace seqtrain::model
