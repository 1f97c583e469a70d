#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/model_config.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::weights {
namespace {

ModelConfig parsed(const std::string& text, ModelConfig defaults = {}) {
  return read_config(ConfigFile::parse(text), std::move(defaults));
}

ModelConfig with(const std::string& members) {
  return parsed(R"({"model_type":"bert")" + (members.empty() ? "" : "," + members) + "}");
}

std::string refusal(const std::string& members) {
  return tests::refusal([&] { with(members); });
}

TEST(ModelConfig, AbsentKeysAreAsInTransformers) {
  const auto bert = with("");
  EXPECT_EQ(bert.vocab_size, 30522);
  EXPECT_EQ(bert.hidden_size, 768);
  EXPECT_EQ(bert.pad_token_id, 0);
  EXPECT_EQ(bert.layer_norm_eps, 1e-12);
  EXPECT_EQ(bert.labels, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
  EXPECT_FALSE(bert.names_labels);
  EXPECT_FALSE(bert.problem_type);
  EXPECT_EQ(bert.max_position_embeddings, 512);
}

TEST(ModelConfig, ReadsEveryField) {
  const auto config = parsed(R"({"model_type": "roberta", "vocab_size": 99, "hidden_size": 12,
    "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 24, "hidden_act": "relu",
    "hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0.25, "classifier_dropout": 0.5,
    "max_position_embeddings": 20, "type_vocab_size": 1, "initializer_range": 0.1,
    "layer_norm_eps": 1e-05, "pad_token_id": 3, "id2label": {"1": "yes", "0": "no", "2": "maybe"},
    "problem_type": "single_label_classification", "position_embedding_type": "absolute",
    "is_decoder": false, "pruned_heads": {}, "something": [{"else": null}]})");
  EXPECT_EQ(config.model_type, "roberta");
  EXPECT_EQ(config.vocab_size, 99);
  EXPECT_EQ(config.hidden_size, 12);
  EXPECT_EQ(config.num_hidden_layers, 1);
  EXPECT_EQ(config.num_attention_heads, 3);
  EXPECT_EQ(config.intermediate_size, 24);
  EXPECT_EQ(config.hidden_act, "relu");
  EXPECT_EQ(config.hidden_dropout_prob, 0);
  EXPECT_EQ(config.attention_probs_dropout_prob, 0.25);
  EXPECT_EQ(config.classifier_dropout_prob(), 0.5);
  EXPECT_EQ(config.max_position_embeddings, 20);
  EXPECT_EQ(config.type_vocab_size, 1);
  EXPECT_EQ(config.initializer_range, 0.1);
  EXPECT_EQ(config.layer_norm_eps, 1e-5);
  EXPECT_EQ(config.pad_token_id, 3);
  EXPECT_EQ(config.labels, (std::vector<std::string>{"no", "yes", "maybe"}));
  EXPECT_EQ(config.num_labels(), 3);
  EXPECT_TRUE(config.names_labels);
  EXPECT_EQ(config.problem_type, ProblemType::single_label);
}

TEST(ModelConfig, TheClassifiersDropoutFallsBackToTheOthers) {
  EXPECT_EQ(
      with(R"("hidden_dropout_prob": 0.3, "classifier_dropout": null)").classifier_dropout_prob(),
      0.3);
}

TEST(ModelConfig, ReadsValuesAsTransformers5Does) {
  EXPECT_EQ(with(R"("pad_token_id": null)").pad_token_id, no_pad_token);
  EXPECT_EQ(with(R"("initializer_range": 0.0)").initializer_range, 0.02);
  EXPECT_EQ(with(R"("hidden_size": 7, "hidden_size": 24)").hidden_size, 24);
  EXPECT_EQ(with(R"("id2label": {"0": 7, "1": 5})").labels, (std::vector<std::string>{"7", "5"}));
}

TEST(ModelConfig, CountsLabelsWithoutNames) {
  EXPECT_EQ(with(R"("num_labels": 3)").labels,
            (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(with(R"("num_labels": 2, "id2label": {"0": "a", "1": "b"})").num_labels(), 2);
}

struct Refused {
  std::string members;
  std::string message;
};

TEST(ModelConfig, NamesTheFieldThatIsWrong) {
  const std::vector<Refused> cases{
      {R"("vocab_size": 0)", "config.json: vocab_size: 0 is not a whole number"},
      {R"("vocab_size": "30522")", "vocab_size: expected an integer"},
      {R"("hidden_size": 4294967296)", "hidden_size: 4294967296 is not a whole number"},
      {R"("hidden_size": 770)", "hidden_size: 770 is not a multiple of num_attention_heads, 12"},
      {R"("num_attention_heads": -12)", "num_attention_heads: -12"},
      {R"("num_hidden_layers": 0)", "num_hidden_layers: 0"},
      {R"("intermediate_size": 0)", "intermediate_size: 0"},
      {R"("hidden_act": "silu")", "hidden_act: 'silu' is not supported; supported are gelu, "},
      {R"("hidden_dropout_prob": 1)", "hidden_dropout_prob: 1.0"},
      {R"("attention_probs_dropout_prob": -0.1)", "attention_probs_dropout_prob: -0.1"},
      {R"("classifier_dropout": 2)", "classifier_dropout: 2.0"},
      {R"("max_position_embeddings": 0)", "max_position_embeddings: 0"},
      {R"("type_vocab_size": 0)", "type_vocab_size: 0"},
      {R"("initializer_range": -1)", "initializer_range: negative"},
      {R"("layer_norm_eps": 0)", "layer_norm_eps: not above 0"},
      {R"("layer_norm_eps": 1e-50)", "layer_norm_eps: not above 0 as a 32-bit number"},
      {R"("pad_token_id": 30522)", "pad_token_id: 30522 is not an id"},
      {R"("pad_token_id": -1)", "pad_token_id: -1 is not an id"},
      {R"("position_embedding_type": "relative_key")", "position_embedding_type: 'relative_key'"},
      {R"("is_decoder": true)", "is_decoder: not supported"},
      {R"("add_cross_attention": true)", "add_cross_attention: not supported"},
      {R"("pruned_heads": {"0": [1]})", "pruned_heads: not supported"},
      {R"("per_layer_config": {"0": {}})", "per_layer_config: not supported"},
      {R"("quantization_config": {})", "quantization_config: not supported"},
      {R"("problem_type": "ranking")", "problem_type: 'ranking' is not supported"},
      {R"("id2label": {})", "id2label: no labels"},
      {R"("id2label": {"0": "a", "2": "b"})", "id2label.2: ids must be"},
      {R"("id2label": {"0": "a", "00": "b"})", "id2label.00: ids must be"},
      {R"("id2label": {"zero": "a"})", "id2label.zero: ids must be"},
      {R"("id2label": {"0": 1.5})", "id2label.0: expected a string"},
      {R"("num_labels": 3, "id2label": {"0": "a"})", "num_labels: id2label has 1 labels"},
      {R"("num_labels": 0)", "num_labels: out of range"},
  };
  for (const auto& [members, message] : cases) {
    const auto text = refusal(members);
    EXPECT_NE(text.find(message), std::string::npos) << text << "\n" << members;
  }
}

TEST(ModelConfig, IsOfRegressionWhereThereIsOneLabelAndNothingElseSaid) {
  const auto problem = [](const std::string& members) {
    return parsed("{\"model_type\": \"bert\"" + members + "}").problem();
  };
  EXPECT_EQ(problem(""), ProblemType::single_label);
  EXPECT_EQ(problem(R"(, "problem_type": null)"), ProblemType::single_label);
  EXPECT_EQ(problem(R"(, "num_labels": 1)"), ProblemType::regression);
  EXPECT_EQ(problem(R"(, "problem_type": "multi_label_classification")"), ProblemType::multi_label);
}

TEST(ModelConfig, GoesByTheKeysOfItsFamily) {
  const ModelConfig defaults{
      .type_vocab_size = 0,
      .layer_norm_eps = 1e-5,
      .keys = {.hidden_size = "dim", .type_vocab_size = "", .layer_norm_eps = ""}};
  const auto config = parsed(R"({"model_type": "other", "dim": 24, "hidden_size": "no number",
    "type_vocab_size": 7, "layer_norm_eps": 1})",
                             defaults);
  EXPECT_EQ(config.model_type, "other");
  EXPECT_EQ(config.hidden_size, 24);
  EXPECT_EQ(config.type_vocab_size, 0);
  EXPECT_EQ(config.layer_norm_eps, 1e-5);
  const auto refused =
      tests::refusal([&] { parsed(R"({"model_type": "other", "dim": 25})", defaults); });
  EXPECT_EQ(refused, "config.json: dim: 25 is not a multiple of num_attention_heads, 12");
}

TEST(ModelConfig, NamesWhatIsNoConfiguration) {
  EXPECT_EQ(tests::refusal([] { parsed("{}"); }), "config.json: model_type: missing");
  EXPECT_EQ(tests::refusal([] { parsed("[]"); }), "config.json: expected an object");
}

TEST(ModelConfig, AMissingFileIsNamed) {
  EXPECT_NE(tests::refusal([] { ConfigFile{"absent/config.json"}; }).find("absent/config.json"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::weights
