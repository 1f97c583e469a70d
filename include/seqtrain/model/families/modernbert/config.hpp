#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/families/layer_types.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// ModernBERT's config.json.
struct ModernBertConfig : weights::ModelConfig {
  bool norm_bias = false;
  bool attention_bias = false;
  bool mlp_bias = false;
  bool classifier_bias = false;
  double embedding_dropout = 0;
  std::string classifier_activation = "gelu";
  std::int64_t local_attention = 128;    ///< the width of the window of layers that have one
  double local_rope_theta = 10'000;      ///< the base of rotary positions in these layers
  double global_rope_theta = 160'000;    ///< the base in the other layers
  double initializer_cutoff_factor = 2;  ///< fresh weights are cut at so many standard deviations
  std::vector<bool> is_local = {};       ///< tells of each layer whether it has a window

  /// Sets every rate of dropout.
  void set_dropout(double rate) {
    ModelConfig::set_dropout(rate);
    embedding_dropout = rate;
  }
};

namespace detail {

/// Takes the base of rotary positions from an object of `rope_parameters`, if it has one. Throws
/// `InputError` that names the type if that is not the plain one.
inline void read_rope(const json::Value& parameters, double& theta) {
  auto kind = parameters.find("rope_type");
  if (!kind) kind = parameters.find("type");
  if (kind && kind->string() != "default") {
    throw kind->error("'" + std::string{kind->string()} + "' is not supported",
                      "supported is default");
  }
  const auto value = parameters.find("rope_theta");
  if (!value) return;
  theta = value->number();
  if (!(theta > 0)) throw value->error("is not above 0");
}

/// Returns the base of the rotary positions of layers of that type, in old files and in new ones.
inline double rope_theta(const json::Value& root, const char* old_key, const char* type,
                         double absent) {
  double theta = absent;
  if (const auto value = root.find(old_key)) {
    theta = value->number();
    if (!(theta > 0)) throw value->error("is not above 0");
  }
  if (const auto all = root.find("rope_parameters")) {
    check_ropes_by_type(*all);
    if (const auto parameters = all->find(type)) read_rope(*parameters, theta);
  }
  if (const auto scaling = root.find("rope_scaling")) read_rope(*scaling, theta);
  return theta;
}

/// Returns which layers have a window: as a list in new files, by a number in old ones.
inline std::vector<bool> local_layers(const weights::ConfigFile& file, std::int64_t layers) {
  if (auto types = sliding_layers(file.root(), layers)) return *std::move(types);
  const auto count = static_cast<std::size_t>(layers);
  std::vector<bool> result(count);
  const auto every =
      static_cast<std::size_t>(weights::count_in(file, "global_attn_every_n_layers", 3));
  for (std::size_t i = 0; i < count; ++i) result[i] = i % every != 0;
  return result;
}

}  // namespace detail

/// Reads ModernBERT's settings. Throws `InputError` if one is missing, wrong or not supported.
inline ModernBertConfig read_modernbert_config(const weights::ConfigFile& file) {
  const json::Value root = file.root();
  ModernBertConfig config{
      weights::read_config(file, {.vocab_size = 50368,
                                  .num_hidden_layers = 22,
                                  .intermediate_size = 1152,
                                  .hidden_dropout_prob = 0,
                                  .attention_probs_dropout_prob = 0,
                                  .classifier_dropout = 0,
                                  .max_position_embeddings = 8192,
                                  .type_vocab_size = 0,
                                  .layer_norm_eps = 1e-5,
                                  .pad_token_id = 50283,
                                  .keys = {.hidden_act = "hidden_activation",
                                           .hidden_dropout_prob = "mlp_dropout",
                                           .attention_probs_dropout_prob = "attention_dropout",
                                           .type_vocab_size = "",
                                           .layer_norm_eps = "norm_eps",
                                           .position_embedding_type = ""}})};
  weights::read(root, "norm_bias", config.norm_bias);
  weights::read(root, "attention_bias", config.attention_bias);
  weights::read(root, "mlp_bias", config.mlp_bias);
  weights::read(root, "classifier_bias", config.classifier_bias);
  weights::read(root, "embedding_dropout", config.embedding_dropout);
  weights::read(root, "classifier_activation", config.classifier_activation);
  if (root.has_null("initializer_cutoff_factor")) config.initializer_cutoff_factor = 3;
  weights::read(root, "initializer_cutoff_factor", config.initializer_cutoff_factor);
  std::string pooling = "cls";
  weights::read(root, "classifier_pooling", pooling);
  const weights::FieldCheck check{file.name()};
  check.probability(config.embedding_dropout, "embedding_dropout");
  check.activation(config.classifier_activation, "classifier_activation");
  check.one_of(pooling, "classifier_pooling", std::vector<std::string>{"cls", "mean"});
  const std::int64_t size_of_head = config.hidden_size / config.num_attention_heads;
  check.require(size_of_head % 2 == 0, "num_attention_heads",
                "rotary positions need heads of an even size");
  std::int64_t head_dim = size_of_head;
  weights::read(root, "head_dim", head_dim);
  check.equal(head_dim, size_of_head, "head_dim");
  check.require(config.initializer_cutoff_factor > 0, "initializer_cutoff_factor", "not above 0");
  config.mean_pooling = pooling == "mean";
  config.local_attention = weights::count_in(file, "local_attention", 128);
  if (root.find("sliding_window")) {
    config.local_attention = 2 * weights::count_in(file, "sliding_window", 0);
  }
  config.global_rope_theta =
      detail::rope_theta(root, "global_rope_theta", "full_attention", 160'000);
  // transformers 4 takes null for "the same as in the other layers".
  config.local_rope_theta =
      detail::rope_theta(root, "local_rope_theta", "sliding_attention",
                         root.has_null("local_rope_theta") ? config.global_rope_theta : 10'000);
  config.is_local = detail::local_layers(file, config.num_hidden_layers);
  return config;
}

}  // namespace seqtrain::model
