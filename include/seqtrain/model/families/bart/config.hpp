#pragma once

#include <cstdint>
#include <string>

#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The config.json of BART. The inherited sizes of layers are the encoder's.
struct BartConfig : weights::ModelConfig {
  std::int64_t decoder_layers = 12;
  std::int64_t decoder_attention_heads = 16;
  std::int64_t decoder_ffn_dim = 4096;
  double activation_dropout = 0;    ///< rate for the feed-forward network's activations
  bool scales_embeddings = false;   ///< by the root of their size
  std::int64_t start_token_id = 2;  ///< the decoder's first token
  std::int64_t end_token_id = 2;    ///< the head reads the decoder's state at the last of these

  /// Sets every dropout rate.
  void set_dropout(double rate) {
    ModelConfig::set_dropout(rate);
    activation_dropout = rate;
  }
};

namespace detail {

/// Returns the names and the defaults of BART.
[[nodiscard]] inline weights::ModelConfig bart_defaults(const json::Value& root) {
  const auto key = [&](const char* berts, const char* own) {
    return weights::key_of(root, berts, own);
  };
  return {.vocab_size = 50265,
          .hidden_size = 1024,
          .num_hidden_layers = 12,
          .num_attention_heads = 16,
          .intermediate_size = 4096,
          .attention_probs_dropout_prob = 0,
          .classifier_dropout = 0,
          .max_position_embeddings = 1024,
          .type_vocab_size = 0,
          .layer_norm_eps = 1e-5,
          .pad_token_id = 1,
          .labels = {"LABEL_0", "LABEL_1", "LABEL_2"},
          .keys = {.hidden_size = key("hidden_size", "d_model"),
                   .num_hidden_layers = key("num_hidden_layers", "encoder_layers"),
                   .num_attention_heads = key("num_attention_heads", "encoder_attention_heads"),
                   .intermediate_size = "encoder_ffn_dim",
                   .hidden_act = "activation_function",
                   .hidden_dropout_prob = "dropout",
                   .attention_probs_dropout_prob = "attention_dropout",
                   .type_vocab_size = "",
                   .layer_norm_eps = "",
                   .position_embedding_type = ""}};
}

/// Throws `InputError` if layers are to be left out at random.
inline void check_no_layerdrop(const weights::ConfigFile& file) {
  for (const char* key : {"encoder_layerdrop", "decoder_layerdrop"}) {
    double rate = 0;
    weights::read(file.root(), key, rate);
    weights::FieldCheck{file.name()}.require(rate == 0, key, "is not supported; supported is 0");
  }
}

/// Returns the id of a special token, or `absent`.
[[nodiscard]] inline std::int64_t bart_token_id(const weights::ConfigFile& file, const char* key,
                                                std::int64_t absent, std::int64_t vocabulary) {
  const weights::FieldCheck check{file.name()};
  check.require(!file.root().has_null(key), key, "null is not supported");
  weights::read(file.root(), key, absent);
  check.require(absent >= 0 && absent < vocabulary, key,
                std::to_string(absent) + " is not an id of the vocabulary");
  return absent;
}

}  // namespace detail

/// Reads BART's settings. Throws `InputError` if one is wrong or not supported.
inline BartConfig read_bart_config(const weights::ConfigFile& file) {
  const json::Value root = file.root();
  BartConfig config{weights::read_config(file, detail::bart_defaults(root))};
  detail::check_no_layerdrop(file);
  if (!root.find("initializer_range")) {
    weights::read(root, "init_std", config.initializer_range);
    weights::FieldCheck{file.name()}.require(config.initializer_range >= 0, "init_std", "negative");
  }
  config.decoder_layers = weights::count_in(file, "decoder_layers", 12);
  config.decoder_attention_heads = weights::count_in(file, "decoder_attention_heads", 16);
  config.decoder_ffn_dim = weights::count_in(file, "decoder_ffn_dim", 4096);
  const weights::FieldCheck check{file.name()};
  check.require(config.decoder_layers <= weights::detail::layer_limit, "decoder_layers",
                std::to_string(config.decoder_layers) + " is above " +
                    std::to_string(weights::detail::layer_limit));
  check.require(config.hidden_size % config.decoder_attention_heads == 0, "decoder_attention_heads",
                std::to_string(config.decoder_attention_heads) + " does not divide d_model, " +
                    std::to_string(config.hidden_size));
  weights::read(root, "activation_dropout", config.activation_dropout);
  check.probability(config.activation_dropout, "activation_dropout");
  weights::read(root, "scale_embedding", config.scales_embeddings);
  check.require(config.pad_token_id != weights::no_pad_token, "pad_token_id",
                "null is not supported");
  config.start_token_id =
      detail::bart_token_id(file, "decoder_start_token_id", 2, config.vocab_size);
  config.end_token_id = detail::bart_token_id(file, "eos_token_id", 2, config.vocab_size);
  return config;
}

}  // namespace seqtrain::model
