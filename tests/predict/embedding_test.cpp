#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/answer_writer.hpp>
#include <seqtrain/predict/embedding.hpp>
#include <seqtrain/predict/prediction.hpp>

namespace seqtrain::predict {
namespace {

TEST(Embedding, IsCutBeforeItIsNormalized) {
  const std::vector<float> whole{3, 4, 12};
  EXPECT_EQ(finished(whole, {}), whole);
  EXPECT_EQ(finished(whole, {.size = 2}), (std::vector<float>{3, 4}));
  EXPECT_EQ(finished(whole, {.size = 2, .normalize = true}), (std::vector<float>{0.6F, 0.8F}));
  EXPECT_EQ(finished(std::vector<float>{0, 0}, {.normalize = true}), (std::vector<float>{0, 0}));
}

TEST(Embedding, HasACosine) {
  const std::vector<float> one{1, 0}, other{2, 2}, zero{0, 0};
  EXPECT_NEAR(cosine(one, other), 0.70710678, 1e-8);
  EXPECT_NEAR(cosine(other, other), 1, 1e-12);
  EXPECT_EQ(cosine(one, zero), 0);
}

TEST(Embedding, TakesThePlaceOfLabels) {
  const Task task{.pooling = "mean"};
  const std::vector<float> numbers{0.5F, -2};
  const auto prediction = interpret(numbers, task);
  EXPECT_TRUE(prediction.labels.empty() && prediction.scores.empty());
  EXPECT_EQ(to_json(prediction, task), R"({"embedding":[0.5,-2]})");
  const AnswerWriter table{task, {.format = AnswerFormat::npy}};
  EXPECT_EQ(table.answer("", prediction, 1).size(), 2 * sizeof(float));
  EXPECT_EQ(table.line_end(), "");
  EXPECT_EQ(table.header(), "");
}

}  // namespace
}  // namespace seqtrain::predict
