#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace seqtrain::predict {

/// The options say how a model's embeddings are cut and normalized.
struct EmbeddingOptions {
  /// Number of the first numbers that are kept, for models that were trained to be cut (Kusupati et
  /// al. 2022, Matryoshka); 0 keeps all.
  std::size_t size = 0;
  bool normalize = false;  ///< divides what is kept by its 2-norm
};

/// Divides a vector by its 2-norm. A vector of zeros stays one.
inline void normalize(std::span<float> vector) {
  double sum = 0;
  for (const float number : vector) sum += double{number} * number;
  const double norm = std::max(std::sqrt(sum), 1e-12);
  for (float& number : vector) number = static_cast<float>(number / norm);
}

/// Returns an embedding as the options say.
[[nodiscard]] inline std::vector<float> finished(std::span<const float> embedding,
                                                 const EmbeddingOptions& options) {
  const std::size_t size = options.size == 0 ? embedding.size() : options.size;
  const auto kept = embedding.first(std::min(size, embedding.size()));
  std::vector<float> result{kept.begin(), kept.end()};
  if (options.normalize) normalize(result);
  return result;
}

/// Returns the cosine of the angle between two embeddings of one size, or 0 if one is all zeros.
[[nodiscard]] inline double cosine(std::span<const float> one, std::span<const float> other) {
  const auto product = [](std::span<const float> a, std::span<const float> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus{},
                              [](float x, float y) { return double{x} * y; });
  };
  const double norms = std::sqrt(product(one, one)) * std::sqrt(product(other, other));
  return norms > 0 ? product(one, other) / norms : 0;
}

}  // namespace seqtrain::predict
