#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/rotary.hpp>
#include <seqtrain/model/cpu/distance_bias.hpp>
#include <seqtrain/model/cpu/distance_vectors.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/fixed_linear.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/linear.hpp>

namespace seqtrain::model::cpu {

/// A layer of an encoder for predictions. See `Layer`.
struct FixedLayer {
  FixedLayer(Layer<Bf16> layer, bool int8)
      : qkv{std::move(layer.qkv), int8},
        attention_output{std::move(layer.attention_output), int8},
        intermediate{std::move(layer.intermediate), int8},
        output{std::move(layer.output), int8},
        norm1{std::move(layer.norm1)},
        norm2{std::move(layer.norm2)},
        activation{layer.activation},
        heads{layer.heads},
        norms_first{layer.norms_first},
        gated{layer.gated},
        reach{layer.reach},
        rotary{std::move(layer.rotary)},
        score_parts{layer.score_parts} {}

  [[nodiscard]] std::size_t hidden() const { return attention_output.out(); }

  [[nodiscard]] std::array<FixedLinear*, 4> linears() {
    return {&qkv, &attention_output, &intermediate, &output};
  }

  FixedLinear qkv, attention_output, intermediate, output;
  NormTensors norm1, norm2;
  ActivationKind activation;
  std::size_t heads;
  bool norms_first, gated;
  std::size_t reach;
  std::shared_ptr<kernels::RotaryAngles> rotary;
  std::size_t score_parts;
};

/// The parts of an encoder for predictions, and the memory of its threads. See `EncoderParts`.
struct FixedParts {
  Embeddings embeddings;
  std::optional<FixedLinear> projection;
  std::vector<FixedLayer> layers;
  std::vector<std::size_t> order;
  std::optional<DistanceBias> distances;
  std::optional<DistanceVectors<Bf16>> vectors;
  bool mean_pooling;
  bool int8;
  std::vector<Buffer<float>> scratch = {};  ///< one for each thread
  /// Receives each map and the loss of its input by quantization; set during the probe only.
  std::vector<std::pair<const FixedLinear*, double>>* losses = nullptr;

  [[nodiscard]] std::size_t hidden() const { return layers.front().hidden(); }
  [[nodiscard]] std::size_t inner() const { return layers.front().output.in(); }

  [[nodiscard]] std::vector<FixedLinear*> all_linears() {
    std::vector<FixedLinear*> result;
    if (projection) result.push_back(&*projection);
    for (FixedLayer& layer : layers) {
      for (FixedLinear* const linear : layer.linears()) result.push_back(linear);
    }
    return result;
  }
};

/// The probabilities of dropout in an encoder.
struct DropoutRates {
  double embeddings = 0;
  double attention = 0;         ///< rate for attention's probabilities
  double attention_output = 0;  ///< rate for attention's output map
  double gates = 0;             ///< rate for a gated network's activations
  double output = 0;            ///< rate for the feed-forward network's output map
  double distances = 0;         ///< rate for the embeddings of distances, in each layer
};

/// The parts of an encoder.
template <class T>
struct EncoderParts {
  Embeddings embeddings;
  std::optional<Linear<T>> projection = {};  ///< map of embeddings to hidden states
  std::vector<Layer<T>> layers;
  /// The indices of the layers in the order in which tokens pass through them. A layer may occur
  /// more than once. If empty, each layer is applied once.
  std::vector<std::size_t> order = {};
  std::optional<DistanceBias> distances = {};    ///< added to all layers' scores
  std::optional<DistanceParts<T>> vectors = {};  ///< vectors of distances, multiplied by q and k
  DropoutRates dropout = {};
  bool mean_pooling = false;  ///< the result is the mean of a row's tokens, not the first token

  /// Returns the index of a layer for each step.
  [[nodiscard]] std::vector<std::size_t> steps() const {
    if (!order.empty()) return order;
    std::vector<std::size_t> all(layers.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

  /// Returns both passes of the vectors of distances, if there are any.
  [[nodiscard]] std::optional<DistanceVectors<T>> take_vectors() {
    if (!vectors) return {};
    const std::size_t heads = layers.front().heads, size = layers.front().hidden() / heads;
    const float scale = kernels::attention_scale(layers.front().score_parts, size);
    return DistanceVectors<T>{*std::move(vectors), heads, scale};
  }
};

}  // namespace seqtrain::model::cpu
