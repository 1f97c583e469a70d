#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/tei.hpp>

namespace seqtrain::serve {
namespace {

TEST(InfoBody, HasTheFieldsOfTextEmbeddingsInference) {
  const auto body =
      info_body({.id = "runs/one/model", .dtype = "bfloat16"}, {.labels = {"no", "yes"}}, 512, {});
  const auto document = json::Document::parse(body, "info");
  const auto root = document.root();
  EXPECT_EQ(root.at("model_id").string(), "runs/one/model");
  EXPECT_FALSE(root.find("model_sha"));
  EXPECT_EQ(root.at("model_dtype").string(), "bfloat16");
  const auto classifier = root.at("model_type").at("classifier");
  EXPECT_EQ(classifier.at("id2label").at("1").string(), "yes");
  EXPECT_EQ(classifier.at("label2id").at("no").integer(), 0);
  EXPECT_EQ(root.at("max_input_length").integer(), 512);
  EXPECT_EQ(root.at("max_batch_tokens").integer(), 16384);
  EXPECT_EQ(root.at("max_client_batch_size").integer(), 32);
  EXPECT_EQ(root.at("max_concurrent_requests").integer(), 512);
}

TEST(InfoBody, CallsAModelWithOneOutputAReranker) {
  const auto body = info_body({}, {.problem_type = ProblemType::regression}, 512, {});
  const auto document = json::Document::parse(body, "info");
  const auto type = document.root().at("model_type");
  EXPECT_EQ(type.at("reranker").at("id2label").at("0").string(), "LABEL_0");
  EXPECT_FALSE(type.find("classifier"));
}

TEST(ReadTokenize, TakesATextOrAList) {
  const auto one = read_tokenize(R"({"inputs": "a"})", 9);
  EXPECT_EQ(one.texts, (std::vector<std::string>{"a"}));
  EXPECT_TRUE(one.special);
  const auto two = read_tokenize(R"({"inputs": ["a", "b"], "add_special_tokens": false})", 9);
  EXPECT_EQ(two.texts, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(two.special);
  for (const char* body : {R"({"inputs": 1})", R"({"inputs": [1]})",
                           R"({"inputs": "a", "add_special_tokens": 1})", R"({})", "[]", "x"}) {
    EXPECT_THROW(static_cast<void>(read_tokenize(body, 9)), Refusal) << body;
  }
  EXPECT_THROW(static_cast<void>(read_tokenize(R"({"inputs": ["a", "b"]})", 1)), Refusal);
}

}  // namespace
}  // namespace seqtrain::serve
