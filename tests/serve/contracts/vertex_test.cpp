#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/vertex.hpp>

namespace seqtrain::serve::vertex {
namespace {

const predict::Task two_labels{.labels = {"bad", "good"}};
const predict::Task many{.labels = {"a", "b", "c"}, .problem_type = ProblemType::multi_label};
const predict::Task number{.problem_type = ProblemType::regression};

std::string object_of(const predict::Task& task, const predict::Prediction& prediction,
                      bool raw = false) {
  json::Writer out;
  write_answer(out, {.raw_scores = raw}, prediction, task);
  return out.text();
}

std::string label_of(const predict::Task& task, const predict::Prediction& prediction) {
  json::Writer out;
  write_label(out, {}, prediction, task);
  return out.text();
}

TEST(VertexAnswer, WritesObjectsAsPredictDoes) {
  EXPECT_EQ(object_of(two_labels, {{1}, {0.25, 0.75}, {-1, 1}}),
            R"({"label":"good","scores":{"bad":0.25,"good":0.75}})");
  EXPECT_EQ(object_of(two_labels, {{1}, {0.25, 0.75}, {-1, 1}}, true),
            R"({"label":"good","scores":{"bad":0.25,"good":0.75},"logits":[-1,1]})");
  EXPECT_EQ(object_of(many, {{0, 1}, {0.75, 0.3, 0.8}, {0, 0, 0}}),
            R"({"labels":["a","b"],"scores":{"a":0.75,"b":0.3,"c":0.8}})");
  EXPECT_EQ(object_of(number, {{}, {2.5}, {2.5F}}), R"({"value":2.5})");
}

TEST(VertexAnswer, WritesLabelsAlone) {
  EXPECT_EQ(label_of(two_labels, {{1}, {0.25, 0.75}, {-1, 1}}), R"("good")");
  EXPECT_EQ(label_of(many, {{}, {0.1, 0.1, 0.1}, {0, 0, 0}}), "[]");
  EXPECT_EQ(label_of(number, {{}, {2.5}, {2.5F}}), "2.5");
}

TEST(VertexAnswer, HasAListOfPredictions) {
  const Text label{.write = write_label};
  const std::vector<predict::Prediction> predictions{{{1}, {0.25, 0.75}, {-1, 1}},
                                                     {{0}, {0.75, 0.25}, {1, -1}}};
  EXPECT_EQ(write_predictions({.texts = {label, label}}, two_labels, predictions).body,
            R"({"predictions":["good","bad"]})");
  EXPECT_EQ(write_predictions({}, two_labels, {}).body, R"({"predictions":[]})");
}

}  // namespace
}  // namespace seqtrain::serve::vertex
