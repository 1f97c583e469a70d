#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/predict/explain.hpp>

#include "support/fake_predictor.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::predict {
namespace {

Prediction prediction_of(const tests::FakePredictor& predictor, std::string_view text,
                         std::optional<std::string_view> pair = {}) {
  const std::vector<Encoded> encoded{predictor.encode(text, pair, 1000)};
  const auto logits = predictor.predict(encoded);
  return interpret({logits.data(), 3}, predictor.task());
}

TEST(ExplainedOutputs, AreThoseOfTheLabelsThatATextHas) {
  const Task one{.labels = {"a", "b", "c"}};
  const Prediction prediction{.labels = {1}, .scores = {.2, .7, .1}};
  EXPECT_EQ(explained_outputs(prediction, one), std::vector<std::size_t>{1});
  const Task many{.labels = {"a", "b", "c"}, .problem_type = ProblemType::multi_label};
  EXPECT_EQ(explained_outputs({.labels = {0, 2}, .scores = {.6, .1, .9}}, many),
            (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(explained_outputs({.scores = {.1, .4, .3}}, many), std::vector<std::size_t>{1});
  EXPECT_EQ(
      explained_outputs({.labels = {0, 1, 2, 3, 4, 5}, .scores = std::vector<double>(6, .9)}, many)
          .size(),
      5U);
  const Task number{.problem_type = ProblemType::regression};
  EXPECT_EQ(explained_outputs({.scores = {3.5}}, number), std::vector<std::size_t>{0});
  const Task numbers{.labels = {"a", "b"}, .problem_type = ProblemType::regression};
  EXPECT_EQ(explained_outputs({.scores = {1, 3.5}}, numbers), (std::vector<std::size_t>{0, 1}));
}

TEST(Explain, PredictsTextsOfSimilarLengthTogether) {
  const tests::FakePredictor predictor;
  const auto prediction = prediction_of(predictor, "one two three four");
  predictor.batches.clear();
  const auto all = explain(predictor, "one two three four", {}, prediction, 1000, {}, 5);
  ASSERT_EQ(predictor.batches.size(), 4U);  // 16 texts
  EXPECT_EQ(predictor.batches[0].size(), 5U);
  EXPECT_EQ(predictor.batches[3].size(), 1U);
  std::size_t longest = 0;
  for (const auto& batch : predictor.batches) {
    for (const std::size_t length : batch) {
      EXPECT_GE(length, longest);
      longest = length;
    }
  }
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].output, 1U);  // the first letter's code is the greatest logit
  EXPECT_DOUBLE_EQ(all[0].logit, 'o');
  EXPECT_DOUBLE_EQ(all[0].baseline, 301);
  EXPECT_LT(all[0].gap, 1e-9);
}

TEST(Explain, CutsTextsAsThePredictionWas) {
  const tests::FakePredictor predictor;
  const auto prediction = prediction_of(predictor, "one two");
  const auto all = explain(predictor, "one two three four", {}, prediction, 8);
  ASSERT_EQ(all[0].words.size(), 2U);
  EXPECT_EQ(all[0].words[1].end, 7U);
}

TEST(Explain, RefusesLogitsThatAreNotFinite) {
  tests::FakePredictor predictor;
  predictor.spoiled = 't';  // the text "two" alone
  const auto prediction = prediction_of(predictor, "one two");
  EXPECT_NE(tests::problem_of([&] {
              (void)explain(predictor, "one two", {}, prediction, 1000);
            }).find("not a finite number for a part of the text"),
            std::string::npos);
}

TEST(WriteExplanations, CountsCharactersAndMarksTheSecondText) {
  const Explanation made{.output = 1,
                         .logit = 2.5,
                         .baseline = 0.5,
                         .passes = 4,
                         .exact = true,
                         .words = {{.begin = 7, .end = 11, .share = 1.5},
                                   {.of_second = true, .begin = 0, .end = 3, .share = 0.5}}};
  const auto written = [&](const Task& task) {
    json::Writer out;
    write_explanations(out, std::vector{made}, "été \"sûr", "oui", task);
    return out.text();
  };
  const std::string rest = R"("logit":2.5,"baseline":0.5,"gap":0,"passes":4,"exact":true,"words":[)"
                           R"({"word":"sûr","start":5,"end":8,"share":1.5},)"
                           R"({"word":"oui","start":0,"end":3,"share":0.5,"of_second":true}]}])";
  EXPECT_EQ(written({.labels = {"a", "b"}}), R"([{"label":"b",)" + rest);
  EXPECT_EQ(written({.problem_type = ProblemType::regression}), "[{" + rest);
  EXPECT_EQ(written({.labels = {"a", "b"}, .problem_type = ProblemType::regression}),
            R"([{"label":"b",)" + rest);
}

}  // namespace
}  // namespace seqtrain::predict
