#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/run/advice.hpp>

namespace seqtrain::run {
namespace {

/// Returns the figures of 100 dev examples of two labels with this accuracy.
metrics::ClassificationReport dev(double loss, std::int64_t right = 80) {
  metrics::Confusion confusion(2, 2);
  confusion << right / 2, 50 - right / 2, 50 - right / 2, right / 2;
  return metrics::make_report(confusion, loss);
}

/// Returns the figures of 100 dev examples, all of which are answered with the second label.
metrics::ClassificationReport one_answer() {
  metrics::Confusion confusion(2, 2);
  confusion << 0, 40, 0, 60;
  return metrics::make_report(confusion, 0.67);
}

AdviceFacts facts_of(std::vector<metrics::ClassificationReport> reports) {
  AdviceFacts facts{.labels = {"no", "yes"},
                    .training_labels = {50, 50},
                    .training_examples = 100,
                    .max_length = 64,
                    .model_max_length = 512,
                    .steps = 92,
                    .learning_rate = 5e-5};
  facts.dev = std::move(reports);
  facts.epoch_of_model = facts.dev.size() - 1;
  return facts;
}

/// Returns the names of the rules that hold.
std::vector<std::string> rules_of(const AdviceFacts& facts) {
  std::vector<std::string> names;
  for (const auto& each : advise(facts)) names.push_back(each.rule);
  return names;
}

using Names = std::vector<std::string>;

TEST(Advise, SaysNothingOfAGoodRun) {
  auto facts = facts_of({dev(0.5), dev(0.41), dev(0.405)});
  facts.training_loss = 0.35;
  facts.tokens_a_word = 1.3;
  facts.cut_examples = 50;
  EXPECT_EQ(rules_of(facts), Names{});
  EXPECT_EQ(rules_of({}), Names{});
}

TEST(Advice, StillFalling) {
  EXPECT_EQ(advice::still_falling(facts_of({dev(0.512), dev(0.431)})),
            "the loss on dev still falls at the end (0.512 after epoch 1, 0.431 after epoch 2); "
            "more --epochs may make the model better");
  EXPECT_EQ(advice::still_falling(facts_of({dev(0.512), dev(0.51)})), "");
  EXPECT_EQ(advice::still_falling(facts_of({dev(0.4), dev(0.6), dev(0.5)})), "");
  EXPECT_EQ(advice::still_falling(facts_of({dev(0.5, 90), dev(0.4, 80)})), "")
      << "accuracy fell, although the loss did too";
  EXPECT_EQ(advice::still_falling(facts_of({dev(0.5)})), "");
}

TEST(Advice, EarlierWasBetter) {
  auto facts = facts_of({dev(0.5, 80), dev(0.5, 84), dev(0.5, 82)});
  EXPECT_EQ(advice::earlier_was_better(facts),
            "epoch 2 was better on dev than the last, which the model is from (accuracy 0.84, not "
            "0.82); --best-model keeps the best one");
  facts.epoch_of_model = 1;
  EXPECT_EQ(advice::earlier_was_better(facts), "");
  EXPECT_EQ(advice::earlier_was_better(facts_of({dev(0.5, 84), dev(0.5, 84)})), "");
  facts = facts_of({dev(0.4, 80), dev(0.5, 84)});
  EXPECT_EQ(advice::earlier_was_better(facts), "");
  facts.selection.metric = "loss";
  EXPECT_NE(advice::earlier_was_better(facts).find("(loss 0.4, not 0.5)"), std::string::npos);
}

TEST(Advice, Overfits) {
  auto facts = facts_of({dev(0.45), dev(0.41), dev(0.62)});
  EXPECT_EQ(advice::overfits(facts), "") << "the loss of training is unknown";
  facts.training_loss = 0.05;
  EXPECT_EQ(advice::overfits(facts),
            "the model overfits: the loss on dev rose from 0.41 after epoch 2 to 0.62, and that of "
            "training fell to 0.05; fewer --epochs, or --best-model with --metric-for-best-model "
            "loss");
  facts.training_loss = 0.4;
  EXPECT_EQ(advice::overfits(facts), "");
  facts = facts_of({dev(0.45), dev(0.41)});
  facts.training_loss = 0.05;
  EXPECT_EQ(advice::overfits(facts), "");
}

TEST(Advice, AnswersOneLabel) {
  auto facts = facts_of({one_answer()});
  EXPECT_EQ(advice::answers_one_label(facts),
            "the model answers all 100 dev examples with 'yes', so it has learned nothing; train "
            "longer with more --epochs (this run took 92 steps), or a higher --learning-rate, such "
            "as 0.0002");
  facts.learning_rate = 1e-3;
  EXPECT_NE(advice::answers_one_label(facts).find("a lower --learning-rate, such as 5e-05"),
            std::string::npos);
  facts.learning_rate = AdviceFacts::unknown;
  EXPECT_TRUE(advice::answers_one_label(facts).ends_with("or another --learning-rate"));
  EXPECT_EQ(advice::answers_one_label(facts_of({dev(0.6)})), "");
  metrics::Confusion only(2, 2);
  only << 0, 0, 0, 60;  // there is no other label to answer
  EXPECT_EQ(advice::answers_one_label(facts_of({metrics::make_report(only, 0.6)})), "");
}

TEST(Advice, AnswersOneLabelOfUnbalancedExamples) {
  auto facts = facts_of({one_answer()});
  facts.training_labels = {20, 80};
  const std::string weigh =
      "; weigh rare labels more by --class-weights auto (80 % of the training examples have the "
      "label 'yes'), or train longer";
  EXPECT_NE(advice::answers_one_label(facts).find(weigh), std::string::npos);
  facts.has_class_weights = true;
  EXPECT_EQ(advice::answers_one_label(facts).find("--class-weights"), std::string::npos);
}

TEST(Advice, OneTrainingLabel) {
  auto facts = facts_of({one_answer()});
  facts.training_labels = {0, 100};
  EXPECT_EQ(rules_of(facts), Names{"one_training_label"});
  EXPECT_EQ(advice::one_training_label(facts),
            "all training examples have the label 'yes', so the model cannot learn another");
  facts.dev.back().problem_type = ProblemType::multi_label;
  facts.training_labels = {10, 0};  // most examples may have none
  EXPECT_EQ(advice::one_training_label(facts), "");
  facts.dev.back().problem_type = ProblemType::single_label;
  facts.training_labels = {1, 99};
  EXPECT_EQ(advice::one_training_label(facts), "");
}

TEST(Advice, AnswersTheSameLabels) {
  metrics::Confusion counts(2, 4);  // negatives, false positives, false negatives, hits
  counts << 70, 0, 30, 0, 90, 0, 10, 0;
  auto facts = facts_of({metrics::make_multi_label_report(counts, 0.6, 0.5)});
  const std::string none = advice::answers_the_same_labels(facts);
  EXPECT_TRUE(
      none.starts_with("the model gives no label to any dev example, so it has learned "
                       "nothing; --class-weights auto makes it give labels, or train "
                       "longer"))
      << none;
  facts.training_labels = {100, 0};  // such a label cannot be weighed
  EXPECT_EQ(advice::answers_the_same_labels(facts).find("--class-weights"), std::string::npos);
  counts << 0, 70, 0, 30, 90, 0, 10, 0;
  facts.dev = {metrics::make_multi_label_report(counts, 0.6, 0.5)};
  EXPECT_TRUE(advice::answers_the_same_labels(facts).starts_with(
      "the model gives the same labels to every dev example"));
  counts << 70, 0, 29, 1, 90, 0, 10, 0;
  facts.dev = {metrics::make_multi_label_report(counts, 0.6, 0.5)};
  EXPECT_EQ(advice::answers_the_same_labels(facts), "");
  counts << 100, 0, 0, 0, 0, 0, 0, 100;  // every example has the same labels
  facts.dev = {metrics::make_multi_label_report(counts, 1, 0.1)};
  EXPECT_EQ(advice::answers_the_same_labels(facts), "");
}

TEST(Advice, PredictsTheMean) {
  AdviceFacts facts{.steps = 40, .r_squared = -0.0887, .learning_rate = 5e-5};
  EXPECT_EQ(advice::predicts_the_mean(facts),
            "on dev the model predicts no better than the mean of the targets (R² -0.0887), so it "
            "has learned nothing; train longer with more --epochs (this run took 40 steps), or a "
            "higher --learning-rate, such as 0.0002");
  facts.head_learning_rate = 5e-4;  // following the advice leaves it so many times as high
  EXPECT_TRUE(advice::predicts_the_mean(facts).ends_with(
      "a higher --learning-rate, such as 0.0002 with --head-learning-rate 0.002"));
  facts.learning_rate = 2e-4, facts.head_learning_rate = 2e-3;
  EXPECT_TRUE(advice::predicts_the_mean(facts).ends_with(
      "a lower --learning-rate, such as 5e-05 with --head-learning-rate 0.0005"));
  facts.r_squared = 0.3;
  EXPECT_EQ(advice::predicts_the_mean(facts), "");
}

TEST(Advice, ManyTokensAWord) {
  EXPECT_EQ(advice::many_tokens_a_word({.tokens_a_word = 4.81}),
            "a word of the training texts has 4.81 tokens in the mean, so the model's vocabulary "
            "is hardly made for their language; take a --model that was trained on it, such as "
            "FacebookAI/xlm-roberta-base");
  EXPECT_EQ(advice::many_tokens_a_word({.tokens_a_word = 2.2}), "");
  EXPECT_NE(advice::many_tokens_a_word({.tokens_a_word = 4.81, .vocabulary = 30'522}), "");
  // ESM's vocabulary has 33 letters and marks, and that of ByT5 the bytes.
  for (const std::size_t characters : {33, 384}) {
    EXPECT_EQ(advice::many_tokens_a_word({.tokens_a_word = 9, .vocabulary = characters}), "");
  }
}

TEST(Advice, MostAreCut) {
  auto facts = facts_of({dev(0.5)});
  facts.cut_examples = 62;
  EXPECT_EQ(advice::most_are_cut(facts),
            "62 % of the training texts reach the maximum of 64 tokens, and what is beyond it is "
            "not read; a --max-length of up to 512 reads more, or --long-texts windows reads all "
            "of a text");
  facts.max_length = 512;
  EXPECT_TRUE(advice::most_are_cut(facts).ends_with(
      "is not read; --long-texts windows reads all of a text"));
  facts.cut_examples = 50;
  EXPECT_EQ(advice::most_are_cut(facts), "");
}

TEST(Advice, BestOfSeveral) {
  auto facts = facts_of({dev(0.5)});
  EXPECT_EQ(advice::best_of_several(facts), "");
  facts.tuned_trials = 8;
  EXPECT_EQ(advice::best_of_several(facts),
            "the values of this run are the best of 8 trials on dev, so its dev figures are a "
            "little too good; a --test-file gives figures to report");
  facts.has_test = true;
  EXPECT_TRUE(advice::best_of_several(facts).ends_with("; report those of the test file"));
}

TEST(Advise, NamesOnlyFlagsThatTheProgramHas) {
  auto facts = facts_of({dev(0.45), dev(0.41), dev(0.62, 70)});
  facts.training_loss = 0.05;
  facts.training_labels = {0, 100};
  facts.cut_examples = 62;
  facts.tokens_a_word = 5;
  facts.tuned_trials = 2;
  facts.has_flag = [](std::string_view flag) { return flag == "epochs"; };
  const auto all = advise(facts);
  EXPECT_EQ(all.size(), 6U);
  for (const auto& [rule, text] : all) {
    for (std::size_t at = 0; (at = text.find("--", at)) != text.npos; ++at) {
      EXPECT_EQ(text.substr(at, 8), "--epochs") << text;
    }
  }
}

}  // namespace
}  // namespace seqtrain::run
