#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The config.json of DeBERTa-v2 and DeBERTa-v3.
struct DebertaV2Config : weights::ModelConfig {
  std::int64_t embedding_size = 1536;
  bool position_biased_input = true;  ///< embeddings have absolute positions
  bool relative_attention = false;    ///< scores of attention depend on distances
  bool content_to_position = false;   ///< scores have a term for query and distance
  bool position_to_content = false;   ///< scores have a term for key and distance
  bool share_att_key = false;         ///< distances take the linear layers of queries and keys
  bool normalizes_distances = false;  ///< the embeddings of distances have a layer norm
  std::int64_t position_buckets = 0;  ///< buckets of distances on either side; none if not above 0
  std::int64_t max_relative_positions = 512;
  std::int64_t conv_kernel_size = 0;  ///< 0 if there is no convolution after the first layer
  std::int64_t conv_groups = 1;
  std::string conv_act = "tanh";
  std::string pooler_hidden_act = "gelu";
  double pooler_dropout = 0;

  /// Sets every rate of dropout.
  void set_dropout(double rate) {
    ModelConfig::set_dropout(rate);
    pooler_dropout = rate;
  }

  /// Returns how many distances on either side have embeddings.
  [[nodiscard]] std::int64_t span() const {
    return position_buckets > 0 ? position_buckets : max_relative_positions;
  }
};

namespace detail {

/// Returns the words of a field: the items of a list, or the words of a text with `|` between them,
/// in lower case.
inline std::vector<std::string> words_of(const json::Value& value) {
  std::vector<std::string> words;
  if (!value.is_string()) {
    for (const auto& item : value.items()) words.emplace_back(item.string());
    return words;
  }
  std::string lower{value.string()};
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  for (std::string_view word : split(lower, '|')) {
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    word = word.substr(0, word.find_last_not_of(' ') + 1);
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

/// Sets the flags whose words a field has; a null stands for a word without an effect. Throws
/// `InputError` if the field has any other word.
inline void read_words(const json::Value& root, std::string_view field,
                       const std::map<std::string, bool*>& flags, const char* supported) {
  const auto value = root.find(field);
  if (!value) return;
  for (const std::string& word : words_of(*value)) {
    const auto flag = flags.find(word);
    if (flag == flags.end()) throw value->error("'" + word + "' is not supported", supported);
    if (flag->second != nullptr) *flag->second = true;
  }
}

/// Throws `InputError` unless a field is missing or has the only supported value.
inline void check_equal(const weights::ConfigFile& file, std::string_view field,
                        std::int64_t supported) {
  std::int64_t value = supported;
  weights::read(file.root(), field, value);
  weights::FieldCheck{file.name()}.equal(value, supported, field);
}

inline void check_convolution(const DebertaV2Config& config, const weights::FieldCheck& check) {
  if (config.conv_kernel_size == 0) return;
  check.require(config.conv_kernel_size > 0 && config.conv_kernel_size % 2 == 1, "conv_kernel_size",
                std::to_string(config.conv_kernel_size) + " is not odd");
  check.count(config.conv_groups, "conv_groups");
  check.require(config.hidden_size % config.conv_groups == 0, "conv_groups",
                std::to_string(config.conv_groups) + " does not divide hidden_size");
  check.one_of(config.conv_act, "conv_act",
               std::vector<std::string>{"tanh", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu"});
}

/// Returns the defaults and keys that all versions of DeBERTa share.
[[nodiscard]] inline weights::ModelConfig deberta_defaults(std::int64_t vocabulary) {
  return {.vocab_size = vocabulary,
          .type_vocab_size = 0,
          .layer_norm_eps = 1e-7,
          .keys = {.classifier_dropout = "cls_dropout", .type_vocab_size = ""}};
}

/// Reads the fields that all versions of DeBERTa have and BERT has not. Throws `InputError` if one
/// is wrong or not supported.
inline void read_deberta_fields(const weights::ConfigFile& file, DebertaV2Config& config) {
  const json::Value root = file.root();
  weights::read(root, "type_vocab_size", config.type_vocab_size);
  config.embedding_size = weights::count_in(file, "embedding_size", config.hidden_size);
  weights::read(root, "position_biased_input", config.position_biased_input);
  weights::read(root, "relative_attention", config.relative_attention);
  read_words(root, "pos_att_type",
             {{"c2p", &config.content_to_position}, {"p2c", &config.position_to_content}},
             "supported are c2p, p2c");
  config.max_relative_positions = 0;
  weights::read(root, "max_relative_positions", config.max_relative_positions);
  if (config.max_relative_positions < 1) {
    config.max_relative_positions = config.max_position_embeddings;
  }
  weights::read(root, "pooler_hidden_act", config.pooler_hidden_act);
  weights::read(root, "pooler_dropout", config.pooler_dropout);
  check_equal(file, "pooler_hidden_size", config.hidden_size);
  const weights::FieldCheck check{file.name()};
  check.require(config.type_vocab_size >= 0, "type_vocab_size", "negative");
  check.count(config.max_relative_positions, "max_relative_positions");
  check.activation(config.pooler_hidden_act, "pooler_hidden_act");
  check.probability(config.pooler_dropout, "pooler_dropout");
}

}  // namespace detail

/// Reads DeBERTa's settings. Throws `InputError` if one is missing, wrong or not supported.
inline DebertaV2Config read_deberta_v2_config(const weights::ConfigFile& file) {
  const json::Value root = file.root();
  auto defaults = detail::deberta_defaults(128100);
  defaults.hidden_size = 1536;
  defaults.num_hidden_layers = defaults.num_attention_heads = 24;
  defaults.intermediate_size = 6144;
  DebertaV2Config config{weights::read_config(file, defaults)};
  detail::read_deberta_fields(file, config);
  weights::read(root, "share_att_key", config.share_att_key);
  detail::read_words(root, "norm_rel_ebd",
                     {{"layer_norm", &config.normalizes_distances}, {"none", nullptr}},
                     "supported are layer_norm, none");
  weights::read(root, "position_buckets", config.position_buckets);
  weights::read(root, "conv_kernel_size", config.conv_kernel_size);
  weights::read(root, "conv_groups", config.conv_groups);
  weights::read(root, "conv_act", config.conv_act);
  detail::check_equal(file, "attention_head_size", config.hidden_size / config.num_attention_heads);
  const weights::FieldCheck check{file.name()};
  const std::int64_t half = config.position_buckets / 2;
  check.require(
      config.position_buckets <= 0 || (half > 0 && half < config.max_relative_positions - 1),
      "position_buckets",
      std::to_string(config.position_buckets) + " is not from 2 to twice max_relative_positions");
  check.count(config.span(), "max_relative_positions");
  detail::check_convolution(config, check);
  return config;
}

}  // namespace seqtrain::model
