#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/model/families/albert/config.hpp>
#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model {

/// ALBERT (Lan et al. 2020): layers share their weights, and embeddings are projected.
struct Albert : BertFamily<Albert, AlbertConfig> {
  static constexpr std::string_view model_type = "albert";
  static constexpr std::string_view prefix = "albert";
  static constexpr std::string_view classifier = "AlbertForSequenceClassification";
  static constexpr std::string_view projection = "encoder.embedding_hidden_mapping_in";
  static constexpr LayerForm layer_form{.query = "attention.query",
                                        .key = "attention.key",
                                        .value = "attention.value",
                                        .attention_output = "attention.dense",
                                        .attention_norm = "attention.LayerNorm",
                                        .intermediate = "ffn",
                                        .output = "ffn_output",
                                        .output_norm = "full_layer_layer_norm",
                                        .drops_output = false};

  static constexpr auto read_config = read_albert_config;
  static HeadForm head_form(const Config&) { return {.dense = "albert.pooler"}; }

  /// Makes groups of layers. Tokens pass `num_hidden_layers` times through a group; neighbouring
  /// passes take one group.
  static LayerStack layer_stack(const Scope& scope, const Config& config) {
    const Scope all = scope / "encoder.albert_layer_groups";
    std::vector<Scope> scopes;
    for (std::int64_t group = 0; group < config.num_hidden_groups; ++group) {
      for (std::int64_t i = 0; i < config.inner_group_num; ++i) {
        scopes.push_back(all.layer(group) / "albert_layers" / std::to_string(i));
      }
    }
    const double passes_of_group = static_cast<double>(config.num_hidden_layers) /
                                   static_cast<double>(config.num_hidden_groups);
    std::vector<std::size_t> order;
    for (std::int64_t pass = 0; pass < config.num_hidden_layers; ++pass) {
      const auto group = static_cast<std::int64_t>(static_cast<double>(pass) / passes_of_group);
      for (std::int64_t i = 0; i < config.inner_group_num; ++i) {
        order.push_back(static_cast<std::size_t>(group * config.inner_group_num + i));
      }
    }
    return {scopes, std::move(order), config, layer_form};
  }
};

}  // namespace seqtrain::model
