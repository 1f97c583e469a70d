#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/openai.hpp>

#include "support/problem_of.hpp"
#include "support/server_view.hpp"

namespace seqtrain::serve::openai {
namespace {

const predict::Task mean{.pooling = "mean", .embedding_size = 2};
const std::vector<predict::Prediction> two{{.logits = {3, 4}}, {.logits = {0, 2}}};

PredictRequest asked(const std::string& body) {
  auto request = tests::request_of({.method = "POST", .target = "/v1/embeddings", .body = body});
  request.tokens = 7;
  return request;
}

std::string answer_to(const std::string& body) {
  const auto request = asked(body);
  return answer(request, mean, std::span{two}.first(request.texts.size())).body;
}

TEST(OpenAiEmbeddings, HaveLengthOneAndAnIndex) {
  EXPECT_EQ(answer_to(R"({"input": ["a", "b"], "model": "m", "user": "u"})").substr(0, 66),
            R"({"object":"list","data":[{"object":"embedding","embedding":[0.6,0.)");
  EXPECT_EQ(answer_to(R"({"input": "b", "model": "m", "dimensions": 1})"),
            R"({"object":"list","data":[{"object":"embedding","embedding":[1],"index":0}],)"
            R"("model":"m","usage":{"prompt_tokens":7,"total_tokens":7}})");
  EXPECT_NE(answer_to(R"({"input": ["a", "b"]})").find(R"("index":1)"), std::string::npos);
}

/// The client for Python asks for base64.
TEST(OpenAiEmbeddings, AreBase64IfAsked) {
  const auto answered =
      answer_to(R"({"input": "a", "encoding_format": "base64", "dimensions": 1})");
  EXPECT_NE(answered.find(R"("embedding":"AACAPw==","index":0)"), std::string::npos) << answered;
}

TEST(OpenAiEmbeddings, RefuseWrongRequests) {
  const auto problem = [](const std::string& body) {
    return tests::problem_of([&] { static_cast<void>(asked(body)); });
  };
  EXPECT_EQ(problem(R"({"input": []})"), "`input` cannot be empty");
  EXPECT_EQ(problem(R"({"input": [[1, 2]]})"), "body: input[0]: expected a string");
  EXPECT_EQ(problem(R"({"input": "a", "encoding_format": "int8"})"),
            "body: encoding_format: must be float or base64");
  EXPECT_THROW(asked(R"({"input": "a"})").check({.labels = {"a", "b"}}), HttpError);
  const auto long_one = asked(R"({"input": "a", "dimensions": 3})");
  EXPECT_EQ(tests::problem_of([&] { long_one.check(mean); }), "`dimensions` must be at most 2");
}

TEST(OpenAiError, HasOpenAisForm) {
  EXPECT_EQ(error(wrong_field("it is wrong")).body,
            R"({"error":{"message":"it is wrong","type":"invalid_request_error","param":null,)"
            R"("code":null}})");
  EXPECT_EQ(error(unhealthy("no model")).status, 503);
  EXPECT_NE(error(unhealthy("no model")).body.find("server_error"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::serve::openai
