#pragma once

#include <string>
#include <vector>

#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// EuroBERT's config.json.
struct EuroBertConfig : DecoderConfig {
  bool late_pooling = true;  ///< logits are means over tokens, not of one state for each text
};

/// Reads EuroBERT's settings. Throws `InputError` if one is missing, wrong or not supported.
inline EuroBertConfig read_eurobert_config(const weights::ConfigFile& file) {
  auto defaults = decoder_defaults(128256);
  defaults.hidden_size = 768;
  defaults.num_hidden_layers = defaults.num_attention_heads = 12;
  defaults.intermediate_size = 3072;
  defaults.max_position_embeddings = 8192;
  defaults.layer_norm_eps = 1e-5;
  defaults.pad_token_id = 128001;
  defaults.is_causal = false;
  EuroBertConfig config{read_decoder_config(file, defaults)};
  read_attention_bias(file.root(), config);
  weights::read(file.root(), "mlp_bias", config.mlp_bias);
  read_ropes(file, config, 10'000);
  std::string pooling = "late";
  weights::read(file.root(), "classifier_pooling", pooling);
  weights::FieldCheck{file.name()}.one_of(pooling, "classifier_pooling",
                                          std::vector<std::string>{"bos", "mean", "late"});
  config.late_pooling = pooling == "late";
  config.mean_pooling = pooling == "mean";
  return config;
}

}  // namespace seqtrain::model
