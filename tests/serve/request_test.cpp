#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/request.hpp>

#include "support/contract_answers.hpp"

namespace seqtrain::serve {
namespace {

using tests::polarity;

void write_best(json::Writer& out, const PredictInput&, const predict::Prediction& prediction,
                const predict::Task& task) {
  out.value(predict::label_name(task.labels, prediction.labels[0]));
}

TEST(Answer, IsAListUnlessThereIsASingleText) {
  const PredictInput text{.write = write_best};
  const std::vector<predict::Prediction> predictions{{{1}, {0.25, 0.75}, {-1, 1}},
                                                     {{0}, {0.75, 0.25}, {1, -1}}};
  EXPECT_EQ(answer({.texts = {text, text}}, polarity, predictions).body, R"(["good","bad"])");
  EXPECT_EQ(answer({.single = true, .texts = {text}}, polarity, {&predictions[0], 1}).body,
            R"("good")");
  EXPECT_EQ(answer({}, polarity, {}).body, "[]");
}

TEST(Answer, RefusesScoresThatAreNotFinite) {
  const std::vector<predict::Prediction> predictions{{{1}, {std::nan(""), 0}, {0, 0}}};
  try {
    static_cast<void>(answer({.texts = {{.write = write_best}}}, polarity, predictions));
    FAIL();
  } catch (const HttpError& refusal) {
    EXPECT_EQ(refusal.status(), 424);
    EXPECT_EQ(refusal.type(), error_type::backend);
  }
}

TEST(Answer, RefusesLogitsThatAreNotFiniteWhereTheyAreWritten) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<predict::Prediction> predictions{{{1}, {0, 1}, {-infinity, 1}}};
  EXPECT_EQ(answer({.texts = {{.write = write_best}}}, polarity, predictions).status, 200);
  const PredictRequest raw{.texts = {{.write = write_best, .raw_scores = true}}};
  EXPECT_THROW((void)answer(raw, polarity, predictions), HttpError);
}

}  // namespace
}  // namespace seqtrain::serve
