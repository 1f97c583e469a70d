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
  double attention = 0;         ///< of attention's probabilities
  double attention_output = 0;  ///< of attention's output map
  double gates = 0;             ///< of a gated network's activations
  double output = 0;            ///< of the feed-forward network's output map
  double distances = 0;         ///< of the embeddings of distances, for each layer
};

/// The parts of an encoder.
template <class T>
struct EncoderParts {
  Embeddings embeddings;
  std::optional<Linear<T>> projection = {};  ///< of embeddings to hidden states
  std::vector<Layer<T>> layers;
  /// The layers in the order in which tokens pass through them. A layer may come more than once.
  /// Empty: each layer once.
  std::vector<std::size_t> order = {};
  std::optional<DistanceNumbers> distances = {};  ///< added to all layers' scores
  std::optional<DistanceParts<T>> vectors = {};   ///< of distances, multiplied by q and k
  DropoutRates dropout = {};
  bool mean_pooling = false;  ///< the result is the mean of a row's tokens, not the first token
};

}  // namespace seqtrain::model::cpu
