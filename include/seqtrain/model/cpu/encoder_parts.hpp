#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <seqtrain/model/cpu/distance_bias.hpp>
#include <seqtrain/model/cpu/distance_vectors.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/linear.hpp>

namespace seqtrain::model::cpu {

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
  std::optional<DistanceNumbers> distances = {};  ///< added to all layers' scores
  std::optional<DistanceParts<T>> vectors = {};   ///< vectors of distances, multiplied by q and k
  DropoutRates dropout = {};
  bool mean_pooling = false;  ///< the result is the mean of a row's tokens, not the first token
};

}  // namespace seqtrain::model::cpu
