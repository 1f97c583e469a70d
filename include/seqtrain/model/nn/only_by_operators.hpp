#pragma once

#include <algorithm>
#include <optional>
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
  const auto is_rms = [](const std::optional<LayerNorm>& norm) {
    return norm && norm->kind == LayerNorm::Kind::root_mean_square;
  };
  add("norms of queries and keys that are no RMSNorm",
      layer.query_norm && !is_rms(layer.query_norm));
  add("other norms before the residual than two RMSNorms",
      (layer.attention_result_norm || layer.result_norm) &&
          !(is_rms(layer.attention_result_norm) && is_rms(layer.result_norm)));
  add("angles of the checkpoint", !traits.rope.given.empty());
}

/// Calls add(name, holds) for each form that a layer may have and that the hand-written backend
/// computes, but the packed one does not.
template <class Add>
void for_each_form_by_hand(const LayerParts& layer, const Add& add) {
  const LayerTraits& traits = layer.traits;
  const auto is_layer_norm = [](const LayerNorm& norm) {
    return norm.kind == LayerNorm::Kind::mean_and_variance;
  };
  add("RMSNorm", !is_layer_norm(layer.norm1) || !is_layer_norm(layer.norm2));
  add("norms whose scale is the weight plus 1", layer.norm1.offset != 0 || layer.norm2.offset != 0);
  add("norms before the residual", layer.attention_result_norm || layer.result_norm);
  add("norms of queries and keys", layer.query_norm || layer.key_norm);
  add("causal attention", traits.causal);
  add("scaled or capped scores", traits.score_scale != 0 || traits.score_cap != 0);
  add("shared keys and values", traits.key_heads > 0 && traits.key_heads != traits.heads);
  add("heads of another size",
      layer.attention_output.weight.size(0) != layer.attention_output.weight.size(1));
  add("scaled rotary positions", traits.rope.scaling != Rope::Scaling::none);
  add("partial rotary positions", traits.rope.share != 1);
  add("rotary positions of neighbouring numbers", traits.rope.neighbours);
  add("gates of a linear layer of their own", layer.gate.has_value());
  add("gates before the activations", traits.activates_second);
  add("transposed weights", layer.attention_output.transposed);
  add("SiLU", traits.activation == ActivationKind::silu);
}

/// Gathers names without repetition.
class Names {
 public:
  void operator()(std::string_view name, bool holds) {
    if (holds && std::ranges::find(found_, name) == found_.end()) found_.push_back(name);
  }
  [[nodiscard]] std::string joined() const { return seqtrain::joined(found_); }

 private:
  std::vector<std::string_view> found_;
};

}  // namespace detail

/// Returns the names of what the layers have that ATen's operators compute, but neither the
/// hand-written backend nor the packed one: "angles of the checkpoint". Empty
/// if there is nothing.
[[nodiscard]] inline std::string only_by_operators(const EncoderLayers& all) {
  detail::Names add;
  for (const LayerParts& layer : all.layers) {
    detail::for_each_unusual_form(layer,
                                  [&](std::string_view name, bool holds) { add(name, holds); });
  }
  return add.joined();
}

/// Returns the names of what the layers have that the packed backend of a device does not compute:
/// "RMSNorm, causal attention". Empty if there is nothing.
[[nodiscard]] inline std::string not_packed(const EncoderLayers& all) {
  detail::Names add;
  add("a norm before the first layer",
      all.first_norm && all.first_norm->kind != LayerNorm::Kind::nothing);
  for (const LayerParts& layer : all.layers) {
    const auto of_layer = [&](std::string_view name, bool holds) { add(name, holds); };
    detail::for_each_unusual_form(layer, of_layer);
    detail::for_each_form_by_hand(layer, of_layer);
  }
  add("the last token as result", all.last_pooling);
  return add.joined();
}

}  // namespace seqtrain::model
