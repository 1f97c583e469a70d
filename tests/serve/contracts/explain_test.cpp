#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/explain.hpp>

#include "support/problem_of.hpp"
#include "support/server_view.hpp"

namespace seqtrain::serve::explain {
namespace {

PredictRequest asked(const std::string& body, const tests::MadeServer& server = {}) {
  return tests::request_of({.method = "POST", .target = "/explain", .body = body}, server);
}

/// Returns predictions of two labels. The second one's logit is the number of letters.
std::vector<predict::Prediction> predictions_for(const PredictRequest& request,
                                                 const predict::Task& task) {
  std::vector<predict::Prediction> predictions;
  for (const PredictInput& input : request.texts) {
    float letters = 0.5F;
    for (const char c : input.text + input.pair.value_or("")) letters += c == ' ' ? 0 : 1;
    std::vector<float> logits{0, letters};
    if (task.problem_type == ProblemType::regression) logits.erase(logits.begin());
    predictions.push_back(predict::interpret(logits, task));
  }
  return predictions;
}

const predict::Task two{.labels = {"bad", "good"}};

TEST(Explain, AnswersWithTheShareOfEachWord) {
  const auto request = asked(R"({"inputs": "so été"})");
  ASSERT_EQ(request.texts.size(), 4U);
  EXPECT_EQ(request.texts[0].text, "so été");
  EXPECT_EQ(request.texts[0].truncation, Truncation::right);
  const auto body = answer(request, two, predictions_for(request, two)).body;
  EXPECT_TRUE(body.starts_with(R"({"label":"good","scores":{"bad":)")) << body;
  EXPECT_TRUE(body.ends_with(
      R"("logits":[0,7.5],"explanations":[{"label":"good","logit":7.5,"baseline":0.5,"gap":0,)"
      R"("passes":4,"exact":true,"words":[{"word":"so","start":0,"end":2,"share":2},)"
      R"({"word":"été","start":3,"end":6,"share":5}]}]})"))
      << body;
}

TEST(Explain, TakesPairsAndRegressions) {
  const auto request = asked(R"({"inputs": ["so", "good"], "passes": 10})");
  EXPECT_EQ(request.texts[0].pair, "good");
  const predict::Task number{.labels = {"value"}, .problem_type = ProblemType::regression};
  EXPECT_EQ(answer(request, number, predictions_for(request, number)).body,
            R"({"value":6.5,"explanations":[{"logit":6.5,"baseline":0.5,"gap":0,"passes":4,)"
            R"("exact":true,"words":[{"word":"so","start":0,"end":2,"share":2},)"
            R"({"word":"good","start":0,"end":4,"share":4,"of_second":true}]}]})");
}

TEST(Explain, LimitsTheTextsOfARequest) {
  const std::string words = "a b c d e f g h i j k l m n o p";
  EXPECT_EQ(asked(R"({"inputs": ")" + words + R"(", "passes": 12})").texts.size(), 12U);
  EXPECT_GT(asked(R"({"inputs": ")" + words + R"("})").texts.size(), 150U);
  // The made server reads 32 bytes, and so the blank before "and".
  const auto cut = asked(R"({"inputs": ")" + words + " and more words" + R"(", "passes": 200})");
  EXPECT_EQ(cut.texts[0].text, words + " and");
}

TEST(Explain, AsksAnAdapter) {
  const tests::MadeServer server{{.adapters = {"mood"}}};
  EXPECT_EQ(asked(R"({"inputs": "so", "model": "mood"})", server).model, "mood");
  EXPECT_EQ(tests::problem_of(
                [&] { static_cast<void>(asked(R"({"inputs": "so", "model": "other"})", server)); }),
            "unknown model");
}

TEST(Explain, RefusesWrongRequests) {
  const auto problem = [](const std::string& body) {
    return tests::problem_of([&] { static_cast<void>(asked(body)); });
  };
  EXPECT_EQ(problem("{}"), "body: inputs: missing");
  EXPECT_EQ(problem(R"({"inputs": ""})"), "`inputs` cannot be empty");
  EXPECT_EQ(problem(R"({"inputs": [["a"], ["b"]]})"), "body: inputs[0]: expected a string");
  EXPECT_EQ(problem(R"({"inputs": "a", "passes": 9})"), "body: passes: must be 10 to 10000");
  EXPECT_EQ(problem(R"({"inputs": "a", "passes": "9"})"), "body: passes: expected an integer");
  EXPECT_EQ(problem(R"({"inputs": "untokenizable"})"), "Tokenization error: no ids for this");
  EXPECT_EQ(problem(R"({"inputs": ")" + std::string(10000, 'a') + R"(", "passes": 10000})"),
            "`inputs` has 10000 bytes for each of 10000 passes, in all more than 67108864; send "
            "fewer passes in a request");
  const auto request = asked(R"({"inputs": "a"})");
  EXPECT_EQ(tests::problem_of([&] { request.check({.pooling = "mean", .embedding_size = 3}); }),
            "model embeds texts and has no labels: ask /embed");
}

TEST(Explain, RefusesLogitsThatAreNotFinite) {
  const auto request = asked(R"({"inputs": "so good"})");
  auto predictions = predictions_for(request, two);
  predictions[2].logits[0] = std::nanf("");
  EXPECT_EQ(tests::problem_of([&] { static_cast<void>(answer(request, two, predictions)); }),
            "a logit is not a finite number");
}

}  // namespace
}  // namespace seqtrain::serve::explain
