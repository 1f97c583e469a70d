#pragma once

#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads the config.json of DistilBERT. It ignores `sinusoidal_pos_embds`, because the checkpoint
/// holds the table of positions in either case. If a size has both BERT's and DistilBERT's name,
/// BERT's counts, as in transformers.
inline weights::ModelConfig read_distilbert_config(const weights::ConfigFile& file) {
  const auto root = file.root();
  const auto key = [&](const char* berts, const char* own) {
    return root.find(berts) ? berts : own;
  };
  return weights::read_config(
      file, {.num_hidden_layers = 6,
             .classifier_dropout = 0.2,
             .type_vocab_size = 0,
             .keys = {.hidden_size = key("hidden_size", "dim"),
                      .num_hidden_layers = key("num_hidden_layers", "n_layers"),
                      .num_attention_heads = key("num_attention_heads", "n_heads"),
                      .intermediate_size = "hidden_dim",
                      .hidden_act = "activation",
                      .hidden_dropout_prob = "dropout",
                      .attention_probs_dropout_prob = "attention_dropout",
                      .classifier_dropout = "seq_classif_dropout",
                      .type_vocab_size = "",
                      .layer_norm_eps = ""}});
}

}  // namespace seqtrain::model
