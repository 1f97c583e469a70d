#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/distance_scores.hpp>
#include <seqtrain/kernels/dropout.hpp>

namespace seqtrain::model::cpu {

/// The strides in memory from one head's vectors of distances to the next head's.
struct VectorsOfAHead {
  std::size_t rows = 0;        ///< floats of `kernels::DistanceVectors::keys`
  std::size_t transposed = 0;  ///< floats of `kernels::DistanceVectors::keys_transposed`

  /// Returns the vectors of a head, given those of head 0.
  [[nodiscard]] kernels::DistanceVectors of_head(std::size_t head,
                                                 kernels::DistanceVectors vectors) const {
    const auto move = [&](auto*& place, std::size_t floats) {
      if (place != nullptr) place += head * floats;
    };
    move(vectors.keys, rows);
    move(vectors.queries, rows);
    move(vectors.d_keys, rows);
    move(vectors.d_queries, rows);
    move(vectors.keys_transposed, transposed);
    move(vectors.queries_transposed, transposed);
    return vectors;
  }
};

/// A sequence in the attention of one layer.
struct AttentionCall {
  std::size_t length;
  std::size_t queries;             ///< the number of tokens that attend, which are the first ones
  kernels::HashDropout dropout;    ///< applies to the probabilities
  std::uint32_t first;             ///< the dropout's index of head 0, query 0, key 0
  const float* bias = nullptr;     ///< added to head 0's scores: bias[key - query]
  float* d_bias = nullptr;         ///< gets the gradient of `bias`
  std::size_t bias_of_a_head = 0;  ///< stride from one head's numbers to the next head's
  kernels::DistanceVectors vectors = {};  ///< vectors of head 0
  VectorsOfAHead vectors_of_a_head = {};
};

/// Computes the angles of rotary positions for sequences of at most that length. Returns the floats
/// of memory that a thread needs for the attention of any of the layers.
template <class Layers>
[[nodiscard]] std::size_t prepare_attention(const Layers& layers, std::size_t longest,
                                            bool with_vectors) {
  std::size_t most = 0;
  for (const auto& layer : layers) {
    if (layer.rotary) layer.rotary->reserve(longest);
    most = std::max(most, kernels::AttentionScratch::floats(longest, layer.head_size(),
                                                            layer.sliding_window, with_vectors));
  }
  return most;
}

}  // namespace seqtrain::model::cpu
