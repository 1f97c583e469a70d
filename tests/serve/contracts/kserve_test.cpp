#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/kserve.hpp>

namespace seqtrain::serve::kserve {
namespace {

TEST(KServePath, NamesAModelAndAPurpose) {
  EXPECT_FALSE(path_of("/v1/models")->model);
  EXPECT_EQ(path_of("/v1/models/m")->model, "m");
  EXPECT_FALSE(path_of("/v1/models/m")->predicts);
  EXPECT_EQ(path_of("/v1/models/m:predict")->model, "m");
  EXPECT_TRUE(path_of("/v1/models/m:predict")->predicts);
  for (const char* other : {"/v1", "/v1/models/", "/v1/models/:predict", "/v1/modelsm",
                            "/v1/models/m:explain", "/v1/models/m/predict", "/v2/models/m"}) {
    EXPECT_FALSE(path_of(other)) << other;
  }
}

TEST(KServeAnswer, ListsModelsAndTellsWhetherOneIsReady) {
  EXPECT_EQ(list(std::vector<std::string>{"a", "b"}).body, R"({"models":["a","b"]})");
  EXPECT_EQ(describe("a", true).body, R"({"name":"a","ready":true})");
  EXPECT_EQ(describe("a", false).status, 503);
}

}  // namespace
}  // namespace seqtrain::serve::kserve
