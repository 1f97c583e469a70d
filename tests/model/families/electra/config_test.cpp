#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/families/electra/config.hpp>

namespace seqtrain::model {
namespace {

auto electra_config(const std::string& members) {
  return read_electra_config(
      weights::ConfigFile::parse(R"({"model_type": "electra")" + members + "}"));
}

TEST(ElectraConfig, ReadsTheSizeOfEmbeddings) {
  EXPECT_EQ(electra_config("").embedding_size, 128);
  EXPECT_EQ(electra_config(R"(, "embedding_size": 64)").embedding_size, 64);
}

}  // namespace
}  // namespace seqtrain::model
