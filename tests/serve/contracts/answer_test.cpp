#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/answer.hpp>

namespace seqtrain::serve {
namespace {

std::string answer_in(Form form, const predict::Task& task, const predict::Prediction& prediction,
                      bool raw = false) {
  return answer_body({.single = true, .texts = {{.form = form, .raw_scores = raw}}}, task,
                     std::vector{prediction});
}

const predict::Task two_labels{.labels = {"bad", "good"}};
const predict::Task many{.labels = {"a", "b", "c"}, .problem_type = ProblemType::multi_label};
const predict::Task number{.problem_type = ProblemType::regression};

TEST(AnswerBody, RanksScores) {
  EXPECT_EQ(answer_in(Form::ranked, two_labels, {{1}, {0.25, 0.75}, {-1, 1}}),
            R"([{"score":0.75,"label":"good"},{"score":0.25,"label":"bad"}])");
  EXPECT_EQ(answer_in(Form::ranked, two_labels, {{1}, {0.25, 0.75}, {-1, 1.5}}, true),
            R"([{"score":1.5,"label":"good"},{"score":-1,"label":"bad"}])");
  EXPECT_EQ(answer_in(Form::ranked, two_labels, {{0}, {0.5, 0.5}, {0, 0}}),
            R"([{"score":0.5,"label":"bad"},{"score":0.5,"label":"good"}])");
}

TEST(AnswerBody, OneOutputIsASigmoidAsInTextEmbeddingsInference) {
  const predict::Prediction prediction{{}, {0}, {0}};
  EXPECT_EQ(answer_in(Form::ranked, number, prediction), R"([{"score":0.5,"label":"LABEL_0"}])");
  const predict::Prediction other{{}, {2.5}, {2.5F}};
  EXPECT_EQ(answer_in(Form::ranked, number, other, true), R"([{"score":2.5,"label":"LABEL_0"}])");
  const predict::Task identity{.problem_type = ProblemType::regression,
                               .one_output = predict::OneOutput::identity};
  EXPECT_EQ(answer_in(Form::ranked, identity, other), R"([{"score":2.5,"label":"LABEL_0"}])");
}

TEST(AnswerBody, RanksTexts) {
  Request request{.texts = {{.text = "q", .pair = "a"}, {.text = "q", .pair = "b"}}, .ranks = true};
  const std::vector<predict::Prediction> predictions{{{}, {0}, {0}}, {{}, {100}, {100}}};
  EXPECT_EQ(answer_body(request, number, predictions),
            R"([{"index":1,"score":1},{"index":0,"score":0.5}])");
  request.returns_texts = true;
  EXPECT_EQ(answer_body(request, number, predictions),
            R"([{"index":1,"text":"b","score":1},{"index":0,"text":"a","score":0.5}])");
}

TEST(AnswerBody, WritesObjectsAsPredictDoes) {
  EXPECT_EQ(answer_in(Form::object, two_labels, {{1}, {0.25, 0.75}, {-1, 1}}),
            R"({"label":"good","scores":{"bad":0.25,"good":0.75}})");
  EXPECT_EQ(answer_in(Form::object, two_labels, {{1}, {0.25, 0.75}, {-1, 1}}, true),
            R"({"label":"good","scores":{"bad":0.25,"good":0.75},"logits":[-1,1]})");
  EXPECT_EQ(answer_in(Form::object, many, {{0, 1}, {0.75, 0.3, 0.8}, {0, 0, 0}}),
            R"({"labels":["a","b"],"scores":{"a":0.75,"b":0.3,"c":0.8}})");
  EXPECT_EQ(answer_in(Form::object, number, {{}, {2.5}, {2.5F}}), R"({"value":2.5})");
}

TEST(AnswerBody, WritesLabelsAlone) {
  EXPECT_EQ(answer_in(Form::label, two_labels, {{1}, {0.25, 0.75}, {-1, 1}}), R"("good")");
  EXPECT_EQ(answer_in(Form::label, many, {{}, {0.1, 0.1, 0.1}, {0, 0, 0}}), "[]");
  EXPECT_EQ(answer_in(Form::label, number, {{}, {2.5}, {2.5F}}), "2.5");
}

TEST(AnswerBody, WritesCategories) {
  EXPECT_EQ(answer_in(Form::categories, two_labels, {{0}, {0.75, 0.25}, {1, -1}}),
            R"({"Categories":"bad","Tensor":[0.75,0.25]})");
  EXPECT_EQ(answer_in(Form::categories, many, {{1, 2}, {0.5, 0.3, 0.95}, {0, 0, 0}}),
            R"({"Categories":"b;c","Tensor":[0.5,0.3,0.95]})");
  EXPECT_EQ(answer_in(Form::categories, number, {{}, {2.5}, {2.5F}}),
            R"({"Categories":"2.5","Tensor":[2.5]})");
}

TEST(AnswerBody, PutsAnswersIntoTheContractsFrame) {
  const std::vector<predict::Prediction> predictions{{{1}, {0.25, 0.75}, {-1, 1}},
                                                     {{0}, {0.75, 0.25}, {1, -1}}};
  const Text label{.form = Form::label};
  EXPECT_EQ(
      answer_body({.contract = Contract::vertex, .texts = {label, label}}, two_labels, predictions),
      R"({"predictions":["good","bad"]})");
  EXPECT_EQ(answer_body({.contract = Contract::torch_serve, .texts = {label, label}}, two_labels,
                        predictions),
            R"(["good","bad"])");
  EXPECT_EQ(answer_body({.contract = Contract::vertex}, two_labels, {}), R"({"predictions":[]})");
}

TEST(AnswerBody, RefusesScoresThatAreNotFinite) {
  try {
    answer_in(Form::ranked, two_labels, {{1}, {std::nan(""), 0}, {0, 0}});
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 424);
    EXPECT_EQ(refusal.type(), error_type::backend);
  }
}

}  // namespace
}  // namespace seqtrain::serve
