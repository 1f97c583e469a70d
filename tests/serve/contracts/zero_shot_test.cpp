#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/zero_shot.hpp>

#include "support/problem_of.hpp"
#include "support/server_view.hpp"

namespace seqtrain::serve::zero_shot {
namespace {

const predict::Task nli{.labels = {"contradiction", "neutral", "entailment"}};

std::string asked(const std::string& parameters, const std::string& inputs = R"("ab")") {
  return R"({"inputs": )" + inputs + R"(, "parameters": {)" + parameters + "}}";
}

predict::Prediction with_logits(std::vector<float> logits) {
  return {.labels = {0}, .scores = {1}, .logits = std::move(logits)};
}

TEST(ZeroShotRequest, PutsEachTextBesideEachHypothesis) {
  const auto request = tests::read_request(
      asked(R"("candidate_labels": ["sport", "art"], "hypothesis_template": "On {}.")",
            R"(["one", "two"])"));
  EXPECT_FALSE(request.single);
  ASSERT_EQ(request.texts.size(), 4U);
  EXPECT_EQ(request.texts[1].text, "one");
  EXPECT_EQ(request.texts[1].pair, "On art.");
  EXPECT_EQ(request.texts[2].text, "two");
  EXPECT_EQ(request.texts[2].pair, "On sport.");
  EXPECT_EQ(request.texts[0].truncation, Truncation::only_first);
  const auto usual = tests::read_request(asked(R"("candidate_labels": ["sport"])"));
  EXPECT_TRUE(usual.single);
  EXPECT_EQ(usual.texts.at(0).pair, "This example is sport.");
}

TEST(ZeroShotAnswer, HasTheFormOfTheInferenceApi) {
  const auto request = tests::read_request(asked(R"("candidate_labels": ["sport", "art"])"));
  const std::vector predictions{with_logits({0, 0, 1}), with_logits({5, 0, 1})};
  EXPECT_EQ(answer(request, nli, predictions).body,
            R"({"sequence":"ab","labels":["sport","art"],"scores":[0.5,0.5]})");
  const auto alone = tests::read_request(
      asked(R"("candidate_labels": ["sport", "art"], "multi_label": true)", R"(["ab", "cd"])"));
  const std::vector four{with_logits({9, 0, 9}), with_logits({-99, 0, 99}), with_logits({0, 0, 0}),
                         with_logits({99, 0, -99})};
  const std::string body = answer(alone, nli, four).body;
  EXPECT_TRUE(body.starts_with(
      R"([{"sequence":"ab","labels":["art","sport"],"scores":[1,0.5]},{"sequence":"cd",)"
      R"("labels":["sport","art"],"scores":[0.5,)"))
      << body;
}

TEST(ZeroShotRequest, RefusesModelsThatInferNothing) {
  const auto request = tests::read_request(asked(R"("candidate_labels": ["sport"])"));
  ASSERT_TRUE(request.check);
  EXPECT_NO_THROW(request.check(nli));
  try {
    request.check({.labels = {"bad", "good"}});
    FAIL();
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status(), 424);
    EXPECT_NE(std::string_view{error.what()}.find("its labels are bad and good"),
              std::string_view::npos);
  }
  EXPECT_EQ(tests::problem_of([&] { request.check({.pooling = "mean", .embedding_size = 3}); }),
            "model embeds texts and has no labels: ask /embed");
}

TEST(ZeroShotRequest, SaysWhichFieldIsWrong) {
  const auto problem = [](const std::string& parameters, const std::string& inputs = R"("ab")") {
    return tests::problem_of(
        [&] { static_cast<void>(tests::read_request(asked(parameters, inputs))); });
  };
  const std::string labels = R"("candidate_labels": ["sport", "art"])";
  EXPECT_EQ(problem(R"("candidate_labels": [])"), "`candidate_labels` cannot be empty");
  EXPECT_EQ(problem(R"("candidate_labels": ["a", "b", "a"])"),
            "body: parameters.candidate_labels: has one label twice");
  EXPECT_EQ(problem(R"("candidate_labels": ["a", ""])"),
            "body: parameters.candidate_labels[1]: is empty");
  EXPECT_EQ(problem(R"("candidate_labels": "a, b")"),
            "body: parameters.candidate_labels: expected an array");
  EXPECT_EQ(problem(labels + R"(, "hypothesis_template": "It is so.")"),
            "body: parameters.hypothesis_template: must have {} once, where the label is put");
  EXPECT_EQ(problem(labels, "[]"), "`inputs` cannot be empty");
  EXPECT_EQ(problem(labels, R"([["a", "b"]])"), "body: inputs[0]: expected a string");
  EXPECT_EQ(problem(labels, R"(["a", ""])"), "`inputs` cannot be empty");
}

TEST(ZeroShotRequest, LimitsThePairs) {
  const std::string body =
      asked(R"("candidate_labels": ["sport", "art"])", R"(["one", "two", "three"])");
  EXPECT_EQ(tests::read_request(body, {.client_batch = 3, .texts = 6}).texts.size(), 6U);
  const auto status = [&](const TextLimits& limits, const std::string& of) {
    try {
      static_cast<void>(tests::read_request(of, limits));
      return 200;
    } catch (const HttpError& error) {
      return error.status();
    }
  };
  EXPECT_EQ(status({.client_batch = 3, .texts = 5}, body), 413);
  EXPECT_EQ(status({.client_batch = 2, .texts = 6}, body), 413);
  std::string labels = R"("candidate_labels": ["0")";
  for (int i = 1; i < 1000; ++i) labels += ", \"" + std::to_string(i) + '"';
  const auto long_body = asked(labels + "]", '"' + std::string(70'000, 'a') + '"');
  EXPECT_EQ(status({}, long_body), 413);
}

}  // namespace
}  // namespace seqtrain::serve::zero_shot
