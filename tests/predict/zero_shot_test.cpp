#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/predict/zero_shot.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::predict {
namespace {

/// A model of natural language inference whose entailment is the number of ids of a pair, and whose
/// contradiction is its first id. It records the lengths of each batch.
struct MadeNli {
  [[nodiscard]] const Task& task() const { return task_; }

  [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                               std::size_t max_length, text::LongTexts way = {}) const {
    EXPECT_EQ(way, text::LongTexts::only_first);
    std::string both = std::string{text} + std::string{pair.value()};
    both.resize(std::min(both.size(), max_length));
    asked.push_back(std::string{pair.value()});
    return {.input_ids = {both.begin(), both.end()}};
  }

  [[nodiscard]] metrics::Logits predict(std::span<const Encoded> texts) const {
    auto& lengths = batches.emplace_back();
    metrics::Logits logits{texts.size(), 3};
    for (Eigen::Index row = 0; const Encoded& text : texts) {
      lengths.push_back(text.input_ids.size());
      logits.row(row++) << static_cast<float>(text.input_ids.at(0)) / 100, -9,
          static_cast<float>(text.input_ids.size()) / 10;
    }
    return logits;
  }

  Task task_ = {.labels = {"CONTRADICTION", "neutral", "Entailment"}};
  mutable std::vector<std::string> asked = {};
  mutable std::vector<std::vector<std::size_t>> batches = {};
};

static_assert(Predictor<ZeroShot<MadeNli>>);

const CandidateLabels three{.labels = {"sport", "politics", "art"}, .hypothesis = "On {}!"};

TEST(ZeroShot, PutsEachHypothesisBesideTheText) {
  const MadeNli model;
  const ZeroShot predictor{model, three};
  EXPECT_EQ(predictor.task().labels, three.labels);
  EXPECT_EQ(predictor.task().problem_type, ProblemType::single_label);
  const auto encoded = predictor.encode("abc", {}, 100);
  EXPECT_EQ(model.asked, (std::vector<std::string>{"On sport!", "On politics!", "On art!"}));
  EXPECT_EQ(encoded.others.size(), 2U);
  EXPECT_NE(tests::problem_of([&] {
              static_cast<void>(predictor.encode("a", "b", 100));
            }).find("has a second text"),
            std::string::npos);
}

TEST(ZeroShot, ComparesTheEntailmentsOfTheLabels) {
  const MadeNli model;
  const ZeroShot predictor{model, three};
  const std::vector<Encoded> texts{predictor.encode("abc", {}, 100),
                                   predictor.encode("c", {}, 100)};
  metrics::Logits expected{2, 3};
  expected << 1.2F, 1.5F, 1.0F, 1.0F, 1.3F, 0.8F;
  EXPECT_TRUE(predictor.predict(texts).isApprox(expected));
}

TEST(ZeroShot, ComparesEntailmentWithContradictionIfLabelsAreJudgedAlone) {
  const MadeNli model;
  for (const CandidateLabels& alone :
       {CandidateLabels{.labels = {"sport", "art"}, .multi_label = true},
        CandidateLabels{.labels = {"sport"}}}) {
    const ZeroShot predictor{model, alone};
    EXPECT_EQ(predictor.task().problem_type, ProblemType::multi_label);
    const std::vector<Encoded> texts{predictor.encode("d", {}, 100)};
    const auto logits = predictor.predict(texts);
    EXPECT_EQ(logits.cols(), std::ssize(alone.labels));
    // "This example is sport." has 22 characters, and the code of d is 100.
    EXPECT_NEAR(logits(0, 0), 2.3 - 1, 1e-6);
    const auto score = interpret({logits.data(), alone.labels.size()}, predictor.task()).scores[0];
    EXPECT_NEAR(score, std::exp(2.3) / (std::exp(2.3) + std::exp(1.0)), 1e-6);
  }
}

TEST(ZeroShot, ComputesThePairsOfAllTextsInBatchesBySize) {
  const MadeNli model;
  const ZeroShot predictor{model, three, 4};
  const std::vector<Encoded> texts{predictor.encode("abcdefgh", {}, 100),
                                   predictor.encode("c", {}, 100)};
  static_cast<void>(predictor.predict(texts));
  EXPECT_EQ(model.batches, (std::vector<std::vector<std::size_t>>{{8, 10, 13, 15}, {17, 20}}));
}

TEST(ZeroShot, AnswersAsAPredictorOfTheCandidateLabelsDoes) {
  const MadeNli model;
  const ZeroShot predictor{model, three};
  AnswerQueue window{predictor, {.answer = {.top_k = 1}}};
  window.add(predictor.encode("abc", {}, 100));
  const auto answer = window.answer();
  EXPECT_TRUE(answer.starts_with(R"({"label":"politics","scores":{"politics":0.4)")) << answer;
}

TEST(EntailmentOutputs, AreFoundByName) {
  using Outputs = std::pair<std::size_t, std::size_t>;
  const auto found = [](std::vector<std::string> labels) {
    const auto [entailment, contradiction] = entailment_outputs({.labels = std::move(labels)});
    return Outputs{entailment, contradiction};
  };
  EXPECT_EQ(found({"contradiction", "neutral", "entailment"}), (Outputs{2U, 0U}));
  EXPECT_EQ(found({"ENTAILMENT", "NEUTRAL", "CONTRADICTION"}), (Outputs{0U, 2U}));
  EXPECT_EQ(found({"neutral", "contradiction", "entails"}), (Outputs{2U, 1U}));
  EXPECT_EQ(found({"entailment", "not_entailment"}), (Outputs{0U, 1U}));
  EXPECT_EQ(found({"not_entailment", "entailment"}), (Outputs{1U, 0U}));
}

TEST(EntailmentOutputs, AreRefusedWithTheLabelsThatThereAre) {
  const auto problem = tests::problem_of([] {
    static_cast<void>(entailment_outputs({.labels = {"bad", "so so", "good"}}));
  });
  EXPECT_NE(problem.find("its labels are bad, so so and good, but"), problem.npos) << problem;
  EXPECT_NE(problem.find("use a model of natural language inference"), problem.npos) << problem;
  EXPECT_THROW(static_cast<void>(entailment_outputs({.labels = {"entailment"}})), InputError);
  EXPECT_THROW(static_cast<void>(entailment_outputs({})), InputError);
}

TEST(CandidateLabels, TellWhatIsWrong) {
  EXPECT_EQ((CandidateLabels{.labels = {"a", "b", "a"}}.repeated()), "a");
  EXPECT_FALSE((CandidateLabels{.labels = {"a", "b"}}.repeated()));
  EXPECT_TRUE(CandidateLabels{}.has_place());
  EXPECT_FALSE(CandidateLabels{.hypothesis = "This is it."}.has_place());
  EXPECT_FALSE(CandidateLabels{.hypothesis = "{} or {}"}.has_place());
}

}  // namespace
}  // namespace seqtrain::predict
