#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/prediction.hpp>

namespace seqtrain::predict {
namespace {

using Labels = std::vector<std::size_t>;

Task task(ProblemType type) {
  return {.labels = {"a", "b", "c"}, .problem_type = type};
}

TEST(Prediction, OfOneLabelIsTheGreatest) {
  const std::vector<float> logits{1, 3, 2};
  const auto prediction = interpret(logits, task(ProblemType::single_label));
  EXPECT_EQ(prediction.labels, Labels{1});
  EXPECT_EQ(prediction.logits, logits);
  const double sum = std::exp(-2) + 1 + std::exp(-1);
  EXPECT_NEAR(prediction.scores[0], std::exp(-2) / sum, 1e-15);
  EXPECT_NEAR(prediction.scores[1], 1 / sum, 1e-15);
  EXPECT_NEAR(prediction.scores[2], std::exp(-1) / sum, 1e-15);
}

TEST(Prediction, OfSeveralLabelsIsEachAboveItsThreshold) {
  const std::vector<float> logits{-1, 0.1F, 3};
  auto several = task(ProblemType::multi_label);
  const auto prediction = interpret(logits, several);
  EXPECT_EQ(prediction.labels, (Labels{1, 2}));
  EXPECT_NEAR(prediction.scores[0], 1 / (1 + std::exp(1.0)), 1e-15);
  EXPECT_NEAR(prediction.scores[2], 1 / (1 + std::exp(-3.0)), 1e-15);
  several.thresholds = {0.2, 0.9, 0.5};
  EXPECT_EQ(chosen(logits, several), (Labels{0, 2}));
  EXPECT_EQ(chosen(std::vector<float>{0, 0, 0}, task(ProblemType::multi_label)), Labels{});
}

TEST(Prediction, OfRegressionIsTheValue) {
  const Task number{.labels = {"LABEL_0"}, .problem_type = ProblemType::regression};
  const auto prediction = interpret(std::vector<float>{3.5F}, number);
  EXPECT_EQ(prediction.labels, Labels{});
  EXPECT_EQ(prediction.scores, std::vector<double>{3.5});
  EXPECT_EQ(to_json(prediction, number), R"({"value":3.5})");
}

TEST(Prediction, OfSeveralTargetsIsAnObjectOfValues) {
  const Task numbers{.labels = {"valence", "a \"b\""}, .problem_type = ProblemType::regression};
  const auto prediction = interpret(std::vector<float>{3.5F, 0.1F}, numbers);
  EXPECT_EQ(prediction.labels, Labels{});
  EXPECT_EQ(to_json(prediction, numbers), R"({"values":{"valence":3.5,"a \"b\"":0.1}})");
}

TEST(Prediction, StaysFiniteForGreatLogits) {
  const auto one = scores(std::vector<float>{1e30F, -1e30F}, ProblemType::single_label);
  EXPECT_EQ(one[0], 1);
  EXPECT_LT(one[1], 1e-300);
  const auto several = scores(std::vector<float>{1e30F, -1e30F}, ProblemType::multi_label);
  EXPECT_EQ(several[0], 1);
  EXPECT_LT(several[1], 1e-300);
}

TEST(Prediction, IsALineOfJson) {
  const std::vector<float> logits{-0.5F, 0.25F, 100};
  EXPECT_EQ(to_json({{2}, {0.25, 0.125, 0.625}, logits}, task(ProblemType::single_label)),
            R"({"label":"c","scores":{"a":0.25,"b":0.125,"c":0.625},"logits":[-0.5,0.25,100]})");
  EXPECT_EQ(to_json({{0, 2}, {0.75, 0.125, 0.625}, logits}, task(ProblemType::multi_label)),
            R"({"labels":["a","c"],"scores":{"a":0.75,"b":0.125,"c":0.625},)"
            R"("logits":[-0.5,0.25,100]})");
  EXPECT_EQ(to_json({{2}, {0.25, 0.125, 0.625}, logits}, task(ProblemType::single_label), 2),
            R"({"label":"c","scores":{"c":0.625,"a":0.25}})");
  EXPECT_EQ(to_json({{2}, {0.25, 0.125, 0.625}, logits}, task(ProblemType::single_label), 9),
            R"({"label":"c","scores":{"c":0.625,"a":0.25,"b":0.125}})");
}

TEST(Prediction, NamesTheWindowOfATextThatWasReadInSeveral) {
  const Task polarity{.labels = {"bad", "good"}};
  Prediction prediction{{1}, {0.25, 0.75}, {-1, 1}, text::DecidingWindow{2, 3, false, 220, 301}};
  const std::string line = R"({"label":"good","scores":{"bad":0.25,"good":0.75},"logits":[-1,1])";
  EXPECT_EQ(to_json(prediction, polarity),
            line + R"(,"window":{"index":2,"of":3,"begin":220,"end":301}})");
  prediction.window.of_second = true;
  EXPECT_EQ(to_json(prediction, polarity),
            line + R"(,"window":{"index":2,"of":3,"begin":220,"end":301,"of_second":true}})");
  prediction.window = {.end = 9};
  EXPECT_EQ(to_json(prediction, polarity), line + "}");
}

}  // namespace
}  // namespace seqtrain::predict
