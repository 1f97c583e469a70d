#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/embedding.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/model/families/deberta_v2/distances.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/distances.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model {

/// The linear layers from embeddings of distances to what is multiplied by queries and by keys.
/// Null if scores have no such product.
struct DistanceMaps {
  const Linear* to_key = nullptr;    ///< its results are keys of queries
  const Linear* to_query = nullptr;  ///< its results are queries of keys
};

/// Returns the part of the scores [rows, heads, width, width] that depends on distances, for
/// queries and keys [rows, heads, width, size]. The scores are computed for each distance and then
/// looked up for each pair of tokens.
[[nodiscard]] inline at::Tensor distance_bias(const at::Tensor& q, const at::Tensor& k,
                                              const BatchDistances& distances,
                                              const DistanceMaps& maps) {
  const int parts = 1 + (maps.to_key != nullptr ? 1 : 0) + (maps.to_query != nullptr ? 1 : 0);
  const double scale = std::sqrt(static_cast<double>(q.size(-1) * parts));
  const auto score = [&](const at::Tensor& content, const Linear& map, std::int64_t order) {
    const at::Tensor keys =
        at::embedding(map(distances.numbers).div(scale), distances.rows.select(0, order));
    const at::Tensor by_head = keys.unflatten(1, {content.size(1), -1}).permute({1, 2, 0});
    return by_pairs(
        at::bmm(content.transpose(0, 1).flatten(1, 2), by_head.to(content.scalar_type())),
        content.size(0));
  };
  at::Tensor sum;
  if (maps.to_key != nullptr) sum = score(q, *maps.to_key, 0);
  if (maps.to_query != nullptr) {
    const at::Tensor of_keys = score(k, *maps.to_query, 1).transpose(-2, -1);
    sum = sum.defined() ? sum.add(of_keys) : of_keys;
  }
  return sum;
}

/// BERT's layer with disentangled attention (He et al. 2021). The score of a query and a key is a
/// sum of up to three products: query and key, query and distance, and key and distance.
class DebertaV2Layer {
 public:
  DebertaV2Layer(const Scope& scope, const DebertaV2Config& config)
      : query_{scope / "attention.self.query_proj", config.hidden_size, config.hidden_size},
        key_{scope / "attention.self.key_proj", config.hidden_size, config.hidden_size},
        value_{scope / "attention.self.value_proj", config.hidden_size, config.hidden_size},
        distance_key_{own_map(scope, "pos_key_proj", config, config.content_to_position)},
        distance_query_{own_map(scope, "pos_query_proj", config, config.position_to_content)},
        content_to_position_{config.content_to_position},
        position_to_content_{config.position_to_content},
        rates_{LayerForm{}.dropout(config)},
        parts_{bert_layer(scope, config, {}, {query_, key_, value_})},
        heads_{config.num_attention_heads} {
    parts_.traits.score_parts = static_cast<std::size_t>(score_parts());
  }

  /// Returns hidden states [rows, width, hidden] for those of the layer before. `distances` is
  /// empty if the model has no relative attention.
  at::Tensor operator()(const at::Tensor& x, AttentionMask mask,
                        const std::optional<BatchDistances>& distances, Dropout& dropout) const {
    const at::Tensor q = split_heads(query_(x), heads_);
    const at::Tensor k = split_heads(key_(x), heads_);
    if (distances && score_parts() > 1) {
      mask.bias = bias(q, k, {dropout(distances->numbers, rates_.output), distances->rows});
    }
    // `attend` divides by the root of the heads' size; the sum of several scores is also divided by
    // the root of their number.
    const at::Tensor scaled = q.div(std::sqrt(static_cast<double>(score_parts())));
    const at::Tensor context =
        attend(scaled, k, split_heads(value_(x), heads_), mask, rates_.attention, dropout);
    return after_attention(parts_, rates_, context, x, dropout).normal;
  }

  /// Returns the layer without its linear layer of distances.
  [[nodiscard]] const LayerParts& parts() const { return parts_; }

  /// Returns the part of the scores [rows, heads, width, width] that depends on distances.
  [[nodiscard]] at::Tensor bias(const at::Tensor& q, const at::Tensor& k,
                                const BatchDistances& distances) const {
    return distance_bias(
        q, k, distances,
        {.to_key = content_to_position_ ? &(distance_key_ ? *distance_key_ : key_) : nullptr,
         .to_query =
             position_to_content_ ? &(distance_query_ ? *distance_query_ : query_) : nullptr});
  }

  /// Returns the linear layer from embeddings of distances to the vectors that are multiplied by
  /// keys, those that are multiplied by queries, or both.
  template <class T>
  [[nodiscard]] cpu::PackedLinear<T> cpu_distance_map() const {
    const Linear& to_query = distance_query_ ? *distance_query_ : query_;
    const Linear& to_key = distance_key_ ? *distance_key_ : key_;
    if (!content_to_position_) return cpu::linear<T>({to_query});
    if (!position_to_content_) return cpu::linear<T>({to_key});
    return cpu::linear<T>({to_query, to_key});
  }

 private:
  /// Returns the number of products that a score is the sum of.
  [[nodiscard]] int score_parts() const {
    return 1 + (content_to_position_ ? 1 : 0) + (position_to_content_ ? 1 : 0);
  }

  static std::optional<Linear> own_map(const Scope& scope, std::string_view name,
                                       const DebertaV2Config& config, bool used) {
    if (!used || config.share_att_key || !config.relative_attention) return {};
    return Linear{scope / "attention.self" / name, config.hidden_size, config.hidden_size};
  }

  Linear query_, key_, value_;
  std::optional<Linear> distance_key_, distance_query_;
  bool content_to_position_, position_to_content_;
  DropoutRates rates_;
  LayerParts parts_;
  std::int64_t heads_;
};

}  // namespace seqtrain::model
