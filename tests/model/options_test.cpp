#include <cstddef>
#include <limits>

#include <gtest/gtest.h>

#include <seqtrain/model/options.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::model {
namespace {

weights::ModelConfig configured(weights::ModelConfig config, const ClassifierOptions& options) {
  configure(config, options, "m/config.json");
  return config;
}

TEST(ClassifierOptions, OverrideTheConfiguration) {
  const auto config = configured({}, {.labels = {"a", "b", "c"}, .dropout = 0.3});
  EXPECT_EQ(config.num_labels(), 3);
  EXPECT_EQ(config.hidden_dropout_prob, 0.3);
  EXPECT_EQ(config.attention_probs_dropout_prob, 0.3);
  EXPECT_EQ(config.classifier_dropout_prob(), 0.3);
}

TEST(ClassifierOptions, KeepTheConfigurationWhereTheySayNothing) {
  weights::ModelConfig stored;
  stored.classifier_dropout = 0.4;
  const auto config = configured(stored, {});
  EXPECT_EQ(config.labels, stored.labels);
  EXPECT_EQ(config.hidden_dropout_prob, 0.1);
  EXPECT_EQ(config.classifier_dropout_prob(), 0.4);
}

TEST(ClassifierOptions, RefuseWhatMakesNoClassifier) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(configured({}, {.dropout = 1}), InputError);
  EXPECT_THROW(configured({}, {.dropout = nan}), InputError);
  EXPECT_THROW(configured({}, {.labels = {"one"}}), InputError);
  const weights::ModelConfig bert;
  const auto entries = static_cast<std::size_t>(bert.vocab_size);
  EXPECT_NO_THROW(configured(bert, {.tokenizer_size = entries}));
  EXPECT_THROW(configured(bert, {.tokenizer_size = entries + 1}), InputError);
  weights::ModelConfig regression;
  regression.problem_type = ProblemType::regression;
  EXPECT_EQ(configured(regression, {}).num_labels(), 2);
  EXPECT_THROW(configured({}, {.labels = {"one"}, .problem_type = ProblemType::multi_label}),
               InputError);
}

TEST(ClassifierOptions, RefuseTwoLabelsOfOneName) {
  weights::ModelConfig config;
  config.labels = {"a", "b", "a"};
  EXPECT_EQ(tests::refusal([&] { configured(config, {}); }),
            "m/config.json: id2label: 'a' twice; give each label a name of its own in id2label of "
            "config.json");
  EXPECT_NO_THROW(configured(config, {.labels = {"a", "b"}}));
  EXPECT_TRUE(tests::refusal([&] {
                configured({}, {.labels = {"b", "b"}});
              }).starts_with("labels: 'b' twice"));
}

TEST(ClassifierOptions, ChooseTheProblem) {
  const auto chosen = [](const ClassifierOptions& options) {
    return configured({}, options).problem_type;
  };
  EXPECT_EQ(chosen({}), ProblemType::single_label);
  EXPECT_EQ(chosen({.labels = {"value"}, .problem_type = ProblemType::regression}),
            ProblemType::regression);
  EXPECT_EQ(chosen({.problem_type = ProblemType::multi_label}), ProblemType::multi_label);
  weights::ModelConfig one;
  one.labels = {"LABEL_0"};
  EXPECT_EQ(configured(one, {}).problem_type, ProblemType::regression);
}

}  // namespace
}  // namespace seqtrain::model
