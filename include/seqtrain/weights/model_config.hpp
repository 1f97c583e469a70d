#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/sentence_form.hpp>

namespace seqtrain::weights {

/// The keys of config.json by which a family calls the fields of `ModelConfig`. An empty key means
/// that the family does not have the field.
struct ConfigKeys {
  std::string_view hidden_size = "hidden_size";
  std::string_view num_hidden_layers = "num_hidden_layers";
  std::string_view num_attention_heads = "num_attention_heads";
  std::string_view intermediate_size = "intermediate_size";
  std::string_view hidden_act = "hidden_act";
  std::string_view hidden_dropout_prob = "hidden_dropout_prob";
  std::string_view attention_probs_dropout_prob = "attention_probs_dropout_prob";
  std::string_view classifier_dropout = "classifier_dropout";
  std::string_view type_vocab_size = "type_vocab_size";
  std::string_view layer_norm_eps = "layer_norm_eps";
  std::string_view position_embedding_type = "position_embedding_type";
};

/// The `pad_token_id` of a model that has no embedding for padding: null in config.json.
inline constexpr std::int64_t no_pad_token = -1;

/// The fields of config.json that encoders of all families have. They are named after BERT's keys
/// and have the defaults of transformers' BertConfig.
struct ModelConfig {
  std::string model_type = "bert";
  std::int64_t vocab_size = 30522;
  std::int64_t hidden_size = 768;
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t intermediate_size = 3072;
  std::string hidden_act = "gelu";  ///< gelu, gelu_new, gelu_pytorch_tanh, relu or silu
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout = {};
  std::int64_t max_position_embeddings = 512;  ///< rows of the table; RoBERTa leaves some unused
  std::int64_t type_vocab_size = 2;            ///< 0 if the family has no token types
  double initializer_range = 0.02;
  double layer_norm_eps = 1e-12;
  std::int64_t pad_token_id = 0;
  /// The names of the labels, from id2label: label i has the name labels[i].
  std::vector<std::string> labels = {"LABEL_0", "LABEL_1"};
  /// Tells whether the file has an id2label.
  bool names_labels = false;
  std::optional<ProblemType> problem_type = {};  ///< if the file has one
  bool mean_pooling = false;  ///< the head takes the mean of all tokens, not the first
  bool last_pooling = false;  ///< a decoder's head takes the last token, also if it is padding's
  bool is_causal = false;     ///< a token sees no later one, so the first token sees only itself
  std::optional<SentenceForm> sentence = {};  ///< if the head is the one of sentence-transformers
  ConfigKeys keys = {};
  bool may_have_silu = false;  ///< `hidden_act` may be silu

  [[nodiscard]] std::int64_t num_labels() const { return static_cast<std::int64_t>(labels.size()); }
  /// Names the labels LABEL_0, LABEL_1, …, unless there are `count` of them.
  void expect_labels(std::int64_t count) {
    if (count == num_labels()) return;
    labels.clear();
    for (std::int64_t id = 0; id < count; ++id) labels.push_back("LABEL_" + std::to_string(id));
  }

  /// Returns the file's problem type. If it has none, returns regression if there is one label and
  /// single-label classification otherwise, as transformers does.
  [[nodiscard]] ProblemType problem() const {
    return problem_type.value_or(num_labels() == 1 ? ProblemType::regression
                                                   : ProblemType::single_label);
  }

  [[nodiscard]] double classifier_dropout_prob() const {
    return classifier_dropout.value_or(hidden_dropout_prob);
  }

  /// Sets every dropout rate.
  void set_dropout(double rate) {
    hidden_dropout_prob = attention_probs_dropout_prob = rate;
    classifier_dropout = rate;
  }

  /// Throws `InputError` at the first field that is out of range.
  inline void validate(const std::string& file = "config.json") const;
};

/// Returns the problem_type of an object, if it has one. Throws `InputError` if that is not a known
/// type.
inline std::optional<ProblemType> problem_type_in(const json::Value& object) {
  const auto value = object.find("problem_type");
  if (!value) return {};
  if (const auto type = problem_type_named(value->string())) return type;
  throw value->error("'" + std::string{value->string()} + "' is not supported",
                     "supported are " + listed_problem_types());
}

/// Checks the fields of one file.
class FieldCheck {
 public:
  explicit FieldCheck(const std::string& file) : file_{&file} {}

  /// Throws `InputError` with the field unless `holds` is true.
  void require(bool holds, std::string_view field, const std::string& problem) const {
    if (!holds) throw InputError{problem, {.object = *file_, .field = std::string{field}}};
  }

  /// Throws `InputError` unless the value is one of those that are supported.
  void one_of(const std::string& value, std::string_view field, auto&& supported) const {
    if (std::ranges::find(supported, value) != std::ranges::end(supported)) return;
    throw InputError{"'" + value + "' is not supported",
                     {.object = *file_, .field = std::string{field}},
                     "supported are " + joined(supported)};
  }

  /// Throws `InputError` unless a field has the only supported value.
  void equal(std::int64_t value, std::int64_t supported, std::string_view field) const {
    if (value == supported) return;
    throw InputError{std::to_string(value) + " is not supported",
                     {.object = *file_, .field = std::string{field}},
                     "supported is " + std::to_string(supported)};
  }

  /// Throws `InputError` unless the value is a count, at least 1.
  void count(std::int64_t value, std::string_view field) const {
    require(value >= 1 && value <= std::numeric_limits<std::int32_t>::max(), field,
            std::to_string(value) + " is not a whole number from 1 to 2147483647");
  }

  /// Throws `InputError` unless the value names a supported activation.
  void activation(const std::string& value, std::string_view field) const {
    constexpr std::array<std::string_view, 4> activations{"gelu", "gelu_new", "gelu_pytorch_tanh",
                                                          "relu"};
    one_of(value, field, activations);
  }

  /// Throws `InputError` unless the value is a probability.
  void probability(double value, std::string_view field) const {
    require(value >= 0 && value < 1, field, std::to_string(value) + " is not in [0, 1)");
  }

 private:
  const std::string* file_;
};

/// Reads a field if the family has a key for it and the file has a value.
template <class T>
void read(const json::Value& root, std::string_view key, T& field) {
  if (key.empty()) return;
  const auto value = root.find(key);
  if (!value) return;
  if constexpr (std::is_same_v<T, std::int64_t>) {
    field = value->integer();
  } else if constexpr (std::is_same_v<T, std::string>) {
    field = value->string();
  } else if constexpr (std::is_same_v<T, bool>) {
    field = value->boolean();
  } else {
    field = value->number();
  }
}

/// Returns the key of a field that has both BERT's name and the family's own. If a file has both,
/// BERT's counts, as in transformers.
[[nodiscard]] inline std::string_view key_of(const json::Value& root, std::string_view berts,
                                             std::string_view own) {
  return root.find(berts) ? berts : own;
}

/// Returns the count under a key that only some families have, or `absent`.
inline std::int64_t count_in(const ConfigFile& file, std::string_view key, std::int64_t absent) {
  read(file.root(), key, absent);
  FieldCheck{file.name()}.count(absent, key);
  return absent;
}

namespace detail {

inline constexpr std::int64_t label_limit = 1'000'000;
inline constexpr std::int64_t layer_limit = 10'000;

inline void read_labels(const json::Value& root, ModelConfig& config) {
  const auto number = root.find("num_labels");
  if (const auto id2label = root.find("id2label")) {
    config.labels = id2label_names(*id2label);
    config.names_labels = true;
    if (number && number->integer() != config.num_labels()) {
      throw number->error("id2label has " + std::to_string(config.num_labels()) + " labels");
    }
  } else if (number) {
    if (number->integer() < 1 || number->integer() > label_limit)
      throw number->error("out of range");
    config.expect_labels(number->integer());
  }
}

/// Throws `InputError` at a field that asks for an architecture that is not implemented.
inline void refuse_other_architectures(const json::Value& root, const ConfigKeys& keys) {
  for (const auto* key : {"is_decoder", "add_cross_attention"}) {
    const auto flag = root.find(key);
    if (flag && flag->boolean()) throw flag->error("not supported: classifiers are encoders");
  }
  std::string positions = "absolute";
  read(root, keys.position_embedding_type, positions);
  if (positions != "absolute") {
    throw root.at(keys.position_embedding_type)
        .error("'" + positions + "' is not supported", "supported is absolute");
  }
  for (const auto* key : {"pruned_heads", "per_layer_config"}) {
    const auto layers = root.find(key);
    if (layers && !layers->members().empty()) throw layers->error("not supported");
  }
  if (const auto method = root.find("quantization_config")) throw method->error("not supported");
}

inline void check_sizes(const ModelConfig& config, const FieldCheck& check) {
  const ConfigKeys& keys = config.keys;
  check.count(config.vocab_size, "vocab_size");
  check.count(config.hidden_size, keys.hidden_size);
  check.count(config.num_hidden_layers, keys.num_hidden_layers);
  check.require(
      config.num_hidden_layers <= layer_limit, keys.num_hidden_layers,
      std::to_string(config.num_hidden_layers) + " is above " + std::to_string(layer_limit));
  check.count(config.num_attention_heads, keys.num_attention_heads);
  check.require(config.hidden_size % config.num_attention_heads == 0, keys.hidden_size,
                std::to_string(config.hidden_size) + " is not a multiple of " +
                    std::string{keys.num_attention_heads} + ", " +
                    std::to_string(config.num_attention_heads));
  check.count(config.intermediate_size, keys.intermediate_size);
  check.count(config.max_position_embeddings, "max_position_embeddings");
  if (!keys.type_vocab_size.empty()) check.count(config.type_vocab_size, keys.type_vocab_size);
  check.require(config.pad_token_id == no_pad_token ||
                    (config.pad_token_id >= 0 && config.pad_token_id < config.vocab_size),
                "pad_token_id",
                std::to_string(config.pad_token_id) + " is not an id of the vocabulary");
}

inline void read_pad_token_id(const json::Value& root, std::int64_t& id) {
  constexpr std::string_view key = "pad_token_id";
  if (root.has_null(key)) id = no_pad_token;
  const auto value = root.find(key);
  if (!value) return;
  id = value->integer();
  if (id == no_pad_token) throw value->error("-1 is not an id of the vocabulary");
}

}  // namespace detail

inline void ModelConfig::validate(const std::string& file) const {
  const FieldCheck check{file};
  detail::check_sizes(*this, check);
  if (!may_have_silu || hidden_act != "silu") check.activation(hidden_act, keys.hidden_act);
  check.probability(hidden_dropout_prob, keys.hidden_dropout_prob);
  check.probability(attention_probs_dropout_prob, keys.attention_probs_dropout_prob);
  check.probability(classifier_dropout_prob(), keys.classifier_dropout);
  check.require(initializer_range >= 0, "initializer_range", "negative");
  check.require(layer_norm_eps >= std::numeric_limits<float>::min(), keys.layer_norm_eps,
                "not above 0 as a 32-bit number");
  check.require(!labels.empty(), "id2label", "no labels");
}

/// Returns `config` with the fields that the file has under `config.keys`, validated. Throws
/// `InputError` with the file and the field, also if the file asks for a network that no family
/// has.
inline ModelConfig read_config(const ConfigFile& file, ModelConfig config = {}) {
  const json::Value root = file.root();
  const ConfigKeys& keys = config.keys;
  config.model_type = file.model_type();
  detail::refuse_other_architectures(root, keys);
  read(root, "vocab_size", config.vocab_size);
  read(root, keys.hidden_size, config.hidden_size);
  read(root, keys.num_hidden_layers, config.num_hidden_layers);
  read(root, keys.num_attention_heads, config.num_attention_heads);
  read(root, keys.intermediate_size, config.intermediate_size);
  read(root, keys.hidden_act, config.hidden_act);
  read(root, keys.hidden_dropout_prob, config.hidden_dropout_prob);
  read(root, keys.attention_probs_dropout_prob, config.attention_probs_dropout_prob);
  read(root, keys.classifier_dropout, config.classifier_dropout);
  read(root, "max_position_embeddings", config.max_position_embeddings);
  read(root, keys.type_vocab_size, config.type_vocab_size);
  read(root, "initializer_range", config.initializer_range);
  if (config.initializer_range == 0) config.initializer_range = 0.02;  // as transformers 5 does
  read(root, keys.layer_norm_eps, config.layer_norm_eps);
  detail::read_pad_token_id(root, config.pad_token_id);
  detail::read_labels(root, config);
  config.problem_type = problem_type_in(root);
  config.validate(file.name());
  return config;
}

}  // namespace seqtrain::weights
