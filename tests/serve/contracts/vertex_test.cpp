#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/vertex.hpp>

#include "support/contract_answers.hpp"

namespace seqtrain::serve::vertex {
namespace {

using tests::polarity, tests::topics, tests::rating, tests::ratings, tests::written;

TEST(VertexAnswer, WritesObjectsAsPredictDoes) {
  EXPECT_EQ(written(write_answer, polarity, {{1}, {0.25, 0.75}, {-1, 1}}),
            R"({"label":"good","scores":{"bad":0.25,"good":0.75}})");
  EXPECT_EQ(written(write_answer, polarity, {{1}, {0.25, 0.75}, {-1, 1}}, true),
            R"({"label":"good","scores":{"bad":0.25,"good":0.75},"logits":[-1,1]})");
  EXPECT_EQ(written(write_answer, topics, {{0, 1}, {0.75, 0.3, 0.8}, {0, 0, 0}}),
            R"({"labels":["a","b"],"scores":{"a":0.75,"b":0.3,"c":0.8}})");
  EXPECT_EQ(written(write_answer, rating, {{}, {2.5}, {2.5F}}), R"({"value":2.5})");
  EXPECT_EQ(written(write_answer, ratings, {{}, {2.5, -1}, {2.5F, -1}}),
            R"({"values":{"a":2.5,"b":-1}})");
}

TEST(VertexAnswer, NamesTheWindowThatDecided) {
  const predict::Prediction long_text{
      {1}, {0.25, 0.75}, {-1, 1}, text::DecidingWindow{2, 3, false, 220, 301}};
  EXPECT_EQ(written(write_answer, polarity, long_text),
            R"({"label":"good","scores":{"bad":0.25,"good":0.75},)"
            R"("window":{"index":2,"of":3,"begin":220,"end":301}})");
  EXPECT_EQ(written(write_label, polarity, long_text), R"("good")");
}

TEST(VertexAnswer, WritesLabelsAlone) {
  EXPECT_EQ(written(write_label, polarity, {{1}, {0.25, 0.75}, {-1, 1}}), R"("good")");
  EXPECT_EQ(written(write_label, topics, {{}, {0.1, 0.1, 0.1}, {0, 0, 0}}), "[]");
  EXPECT_EQ(written(write_label, rating, {{}, {2.5}, {2.5F}}), "2.5");
  EXPECT_EQ(written(write_label, ratings, {{}, {2.5, -1}, {2.5F, -1}}), R"({"a":2.5,"b":-1})");
}

TEST(VertexAnswer, HasAListOfPredictions) {
  const PredictInput label{.write = write_label};
  const std::vector<predict::Prediction> predictions{{{1}, {0.25, 0.75}, {-1, 1}},
                                                     {{0}, {0.75, 0.25}, {1, -1}}};
  EXPECT_EQ(write_predictions({.texts = {label, label}}, polarity, predictions).body,
            R"({"predictions":["good","bad"]})");
  EXPECT_EQ(write_predictions({}, polarity, {}).body, R"({"predictions":[]})");
}

}  // namespace
}  // namespace seqtrain::serve::vertex
