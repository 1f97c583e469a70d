#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/embeddings.hpp>

#include "support/problem_of.hpp"
#include "support/server_view.hpp"

namespace seqtrain::serve::embeddings {
namespace {

const predict::Task mean{.pooling = "mean", .embedding_size = 3};
const std::vector<predict::Prediction> two{{.logits = {3, 4, 0}}, {.logits = {0, 0, 2}}};

PredictRequest asked(const std::string& path, const std::string& body) {
  return tests::request_of({.method = "POST", .target = path, .body = body});
}

TEST(Embed, ReturnsAListOfEmbeddings) {
  const auto answer_to = [](const std::string& body) {
    const auto request = asked("/embed", body);
    return answer(request, mean, std::span{two}.first(request.texts.size())).body;
  };
  EXPECT_EQ(answer_to(R"({"inputs": ["a", "b"], "normalize": false})"), "[[3,4,0],[0,0,2]]");
  EXPECT_EQ(answer_to(R"({"inputs": "a", "dimensions": 1})"), "[[1]]");
  EXPECT_TRUE(answer_to(R"({"inputs": "a"})").starts_with("[[0.6,0.8,0]]"));
  EXPECT_EQ(asked("/embed", R"({"inputs": "a", "truncate": true})").texts[0].truncation,
            Truncation::right);
}

TEST(Similarity, IsTheCosineWithTheSource) {
  const auto request =
      asked("/similarity", R"({"inputs": {"source_sentence": "a", "sentences": ["b", "c"]}})");
  ASSERT_EQ(request.texts.size(), 3U);
  EXPECT_EQ(request.texts[0].text, "a");
  const std::vector<predict::Prediction> three{
      {.logits = {1, 0}}, {.logits = {5, 0}}, {.logits = {0, 1}}};
  EXPECT_EQ(answer(request, mean, three).body, "[1,0]");
}

TEST(Embed, RefusesWrongRequests) {
  const auto problem = [](const std::string& path, const std::string& body) {
    return tests::problem_of([&] { static_cast<void>(asked(path, body)); });
  };
  EXPECT_EQ(problem("/embed", R"({"inputs": []})"), "`inputs` cannot be empty");
  EXPECT_EQ(problem("/embed", R"({"inputs": ["a", ""]})"), "`inputs` cannot be empty");
  EXPECT_EQ(problem("/embed", R"({"inputs": [1]})"), "body: inputs[0]: expected a string");
  EXPECT_EQ(problem("/embed", R"({"inputs": "a", "dimensions": 0})"),
            "body: dimensions: must be at least 1");
  EXPECT_EQ(problem("/similarity", R"({"inputs": {"source_sentence": "a", "sentences": "b"}})"),
            "body: inputs.sentences: expected an array");
  EXPECT_EQ(problem("/similarity", R"({"inputs": {"source_sentence": "", "sentences": ["b"]}})"),
            "`source_sentence` cannot be empty");
  const auto request = asked("/embed", R"({"inputs": "a", "dimensions": 4})");
  EXPECT_EQ(tests::problem_of([&] { request.check(mean); }), "`dimensions` must be at most 3");
  EXPECT_THROW(request.check({.labels = {"bad", "good"}}), HttpError);
  EXPECT_NO_THROW(asked("/embed", R"({"inputs": "a", "dimensions": 3})").check(mean));
}

TEST(Embed, LimitsTheTexts) {
  tests::MadeServer server;
  server.state.options.max_client_batch_size = 1;
  const HttpRequest two_texts{
      .method = "POST", .target = "/embed", .body = R"({"inputs": ["a", "b"]})"};
  EXPECT_NE(tests::problem_of([&] {
              static_cast<void>(tests::request_of(two_texts, server));
            }).find("batch size 2 > maximum allowed batch size 1"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::serve::embeddings
