#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/predict/comparison.hpp>

#include "support/fake_predictor.hpp"

namespace seqtrain::predict {
namespace {

static_assert(Predictor<Compared<tests::FakePredictor>>);

TEST(Comparison, CountsOtherLabelsAndDifferences) {
  const Task task{.labels = {"a", "b"}};
  metrics::Logits one{3, 2}, other{3, 2};
  one << 1, 0, 0, 1, 2, -2;
  other << 1, 0, 1, 0, 2, -2.5;
  Comparison comparison;
  comparison.add(one.topRows(1), other.topRows(1), task);
  comparison.add(one.bottomRows(2), other.bottomRows(2), task);
  EXPECT_EQ(comparison.texts, 3U);
  EXPECT_EQ(comparison.other_labels, 1U);
  EXPECT_EQ(comparison.logits.largest, 1);
  EXPECT_DOUBLE_EQ(comparison.logits.mean(), 2.5 / 6);
  EXPECT_NEAR(comparison.scores.largest, 0.46212, 1e-5);
  EXPECT_EQ(comparison.text(),
            "1 of 3 texts have other labels (33.33 %); scores differ by 0.16 on average and 0.46 "
            "at most, logits by 0.42 on average and 1 at most");
}

TEST(Comparison, CountsTextsWithoutAFiniteAnswerApart) {
  const Task task{.labels = {"a", "b"}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  metrics::Logits one{3, 2}, other{3, 2};
  one << 1, 0, nan, 1, 2, -2;
  other << 1, 0, nan, 1, 2, std::numeric_limits<float>::infinity();
  Comparison comparison;
  comparison.add(one, other, task);
  EXPECT_EQ(comparison.texts, 1U);
  EXPECT_EQ(comparison.other_labels, 0U);
  EXPECT_EQ(comparison.text(),
            "0 of 1 texts have other labels (0.00 %); scores differ by 0 on average and 0 at most, "
            "logits by 0 on average and 0 at most; 2 more texts have a logit that is not finite "
            "and are left out");
}

TEST(Comparison, OfNoTextIsZero) {
  EXPECT_EQ(Comparison{}.text(),
            "0 of 0 texts have other labels (0.00 %); scores differ by 0 on average and 0 at most, "
            "logits by 0 on average and 0 at most");
}

TEST(Compared, AnswersAsTheFirstAndAsksBoth) {
  const tests::FakePredictor predictor, other;
  const Compared compared{predictor, other};
  const std::vector<Encoded> texts{compared.encode("aa", {}, 100), compared.encode("b", {}, 100)};
  EXPECT_EQ(compared.predict(texts), tests::FakePredictor{}.predict(texts));
  EXPECT_EQ(predictor.batches, other.batches);
  EXPECT_EQ(compared.comparison().texts, 2U);
  EXPECT_EQ(compared.comparison().other_labels, 0U);
}

TEST(Compared, NamesTheWindowThatDecided) {
  tests::FakePredictor predictor;
  const tests::FakePredictor other;
  predictor.window = 4;
  const Compared compared{predictor, other};
  AnswerQueue answered{predictor};
  AnswerQueue window{compared};
  for (const auto* text : {"aaaaa", "b"}) {
    answered.add(predictor.encode(text, {}, 100));
    window.add(compared.encode(text, {}, 100));
  }
  const std::string lines = window.answer();
  EXPECT_EQ(lines, answered.answer());
  EXPECT_NE(lines.find(R"("window":{"index":1,"of":2,"begin":4,"end":7}})"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::predict
