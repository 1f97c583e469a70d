#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/lists.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model {

namespace detail {

/// Calls add(name, holds) for each form that a layer may have and only operators compute.
template <class Add>
void for_each_unusual_form(const LayerParts& layer, const Add& add) {
  const LayerTraits& traits = layer.traits;
  const auto is_layer_norm = [](const LayerNorm& norm) {
    return norm.kind == LayerNorm::Kind::mean_and_variance;
  };
  add("RMSNorm", !is_layer_norm(layer.norm1) || !is_layer_norm(layer.norm2));
  add("norms of queries and keys", layer.query_norm || layer.key_norm);
  add("norms before the residual", layer.attention_result_norm || layer.result_norm);
  add("causal attention", traits.causal);
  add("shared keys and values", traits.key_heads > 0 && traits.key_heads != traits.heads);
  add("heads of another size",
      layer.attention_output.weight.size(0) != layer.attention_output.weight.size(1));
  add("scaled or capped scores", traits.score_scale != 0 || traits.score_cap != 0);
  add("scaled or partial rotary positions",
      traits.rope.scaling != Rope::Scaling::none || traits.rope.share != 1);
  add("rotary positions of neighbouring numbers", traits.rope.neighbours);
  add("angles of the checkpoint", !traits.rope.given.empty());
  add("gates of a linear layer of their own", layer.gate.has_value());
  add("transposed weights", layer.attention_output.transposed);
  add("gates before the activations", traits.activates_second);
  add("SiLU", traits.activation == ActivationKind::silu);
}

}  // namespace detail

/// Returns the names of what the layers have that ATen's operators compute, but neither the
/// hand-written backend nor the packed one: "RMSNorm, causal attention". Empty if there is nothing.
[[nodiscard]] inline std::string only_by_operators(const EncoderLayers& all) {
  std::vector<std::string_view> found;
  const auto add = [&](std::string_view name, bool holds) {
    if (holds && std::ranges::find(found, name) == found.end()) found.push_back(name);
  };
  add("a norm before the first layer",
      all.first_norm && all.first_norm->kind != LayerNorm::Kind::nothing);
  for (const LayerParts& layer : all.layers) detail::for_each_unusual_form(layer, add);
  add("the last token as result", all.last_pooling);
  return joined(found);
}

}  // namespace seqtrain::model
