#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/rotary.hpp>
#include <seqtrain/model/cpu/convolution.hpp>
#include <seqtrain/model/cpu/distance_bias.hpp>
#include <seqtrain/model/cpu/distance_vectors.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/inference_linear.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/pooling.hpp>

namespace seqtrain::model::cpu {

/// A layer of an encoder for predictions. See `Layer`.
struct InferenceLayer : LayerTraits {
  InferenceLayer(Layer<Bf16> layer, bool int8)
      : LayerTraits{layer},
        qkv{std::move(layer.qkv), int8},
        attention_output{std::move(layer.attention_output), int8},
        intermediate{std::move(layer.intermediate), int8},
        output{std::move(layer.output), int8},
        norm1{std::move(layer.norm1)},
        norm2{std::move(layer.norm2)},
        rotary{std::move(layer.rotary)} {}

  [[nodiscard]] std::size_t hidden() const { return attention_output.out(); }
  [[nodiscard]] std::size_t head_size() const { return hidden() / heads; }

  [[nodiscard]] std::array<InferenceLinear*, 4> linears() {
    return {&qkv, &attention_output, &intermediate, &output};
  }

  InferenceLinear qkv, attention_output, intermediate, output;
  NormTensors norm1, norm2;
  std::shared_ptr<kernels::RotaryAngles> rotary;
};

/// The parts of an encoder for predictions, and the memory of its threads. See `EncoderParts`.
struct InferenceParts {
  Embeddings embeddings;
  std::optional<InferenceLinear> projection;
  std::optional<Convolution<InferenceLinear>> convolution;
  std::vector<InferenceLayer> layers;
  std::vector<std::size_t> order;
  std::optional<DistanceBias> distances;
  std::optional<DistanceVectors<Bf16>> vectors;
  Pooling pooling;
  bool int8;
  std::vector<Buffer<float>> scratch = {};  ///< one for each thread
  /// Receives each linear layer and the loss of its input by quantization; set during the probe
  /// only.
  std::vector<std::pair<const InferenceLinear*, double>>* losses = nullptr;

  [[nodiscard]] std::size_t hidden() const { return layers.front().hidden(); }
  [[nodiscard]] std::size_t inner() const { return layers.front().output.in(); }
  /// Returns the number of columns that the convolution reads, or 0.
  [[nodiscard]] std::size_t near() const { return convolution ? convolution->map.in() : 0; }

  /// Returns what a head's attention reads. `q` is the head's query of the first token.
  [[nodiscard]] kernels::AttentionHead<Bf16> view(const InferenceLayer& layer, std::size_t head,
                                                  const Bf16* q, std::size_t queries,
                                                  std::size_t length) const {
    kernels::AttentionHead<Bf16> view{.q = q,
                                      .k = q + hidden(),
                                      .v = q + 2 * hidden(),
                                      .ld = 3 * hidden(),
                                      .queries = queries,
                                      .length = length,
                                      .size = hidden() / layer.heads,
                                      .sliding_window = layer.sliding_window,
                                      .parts = layer.score_parts,
                                      .factor = static_cast<float>(layer.score_scale),
                                      .by_tiles = has_tiles()};
    if (distances) view.bias = distances->values() + head * distances->distances();
    if (vectors) {
      const auto index = static_cast<std::size_t>(&layer - layers.data());
      view.vectors = vectors->of_a_head().of_head(head, vectors->vectors(index));
    }
    return view;
  }

  [[nodiscard]] std::vector<InferenceLinear*> all_linears() {
    std::vector<InferenceLinear*> result;
    if (projection) result.push_back(&*projection);
    if (convolution) result.push_back(&convolution->map);
    for (InferenceLayer& layer : layers) {
      for (InferenceLinear* const linear : layer.linears()) result.push_back(linear);
    }
    return result;
  }
};

/// The parts of an encoder.
template <class T>
struct EncoderParts {
  Embeddings embeddings;
  std::optional<PackedLinear<T>> projection =
      {};  ///< linear layer from embeddings to hidden states
  std::vector<Layer<T>> layers;
  /// The indices of the layers in the order in which tokens pass through them. A layer may occur
  /// more than once. If empty, each layer is applied once.
  std::vector<std::size_t> order = {};
  std::optional<DistanceBias> distances = {};    ///< added to all layers' scores
  std::optional<DistanceParts<T>> vectors = {};  ///< vectors of distances, multiplied by q and k
  DropoutRates dropout = {};
  Pooling pooling = Pooling::first_token;                        ///< what the result is of
  std::optional<Convolution<PackedLinear<T>>> convolution = {};  ///< only predictions use it
  std::int64_t padding_id = -1;  ///< does not count as a text's last token; -1 if all count

  /// Returns both passes of the vectors of distances, if there are any.
  [[nodiscard]] std::optional<DistanceVectors<T>> take_vectors() {
    if (!vectors) return {};
    const std::size_t heads = layers.front().heads, size = layers.front().hidden() / heads;
    const float scale = kernels::attention_scale(layers.front().score_parts, size);
    return DistanceVectors<T>{*std::move(vectors), heads, scale};
  }
};

/// Tells whether `InferenceEncoder` computes an encoder: it lacks the forms of decoders.
template <class T>
[[nodiscard]] bool has_inference_encoder(const EncoderParts<T>& parts) {
  const auto is_usual = [](const Layer<T>& layer) {
    return layer.norm1.exists() && layer.norm1.centers && layer.norm2.centers &&
           !layer.query_norm && !layer.result_norm && !layer.causal && layer.sharing() == 1 &&
           layer.context_size() == layer.hidden() && layer.score_cap == 0 &&
           !layer.output.transposed();
  };
  return parts.pooling != Pooling::last_token && std::ranges::all_of(parts.layers, is_usual);
}

}  // namespace seqtrain::model::cpu
