#pragma once

#include <algorithm>
#include <cstddef>

#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/linear.hpp>

namespace seqtrain::model::cpu {

/// Sums over rows for the gradients of several LayerNorms: a set for each task, added up in their
/// order, so that the bits do not depend on which thread did what.
class NormGradients {
 public:
  void reserve(std::size_t sets, std::size_t norms, std::size_t hidden) {
    sets_ = sets;
    norms_ = norms;
    hidden_ = hidden;
    const std::size_t count = sets * norms * 2 * hidden;
    std::fill_n(sums_.reserve(count), count, 0.0F);
  }

  [[nodiscard]] float* gamma(std::size_t set, std::size_t norm) const {
    return sums_.data() + (set * norms_ + norm) * 2 * hidden_;
  }
  [[nodiscard]] float* beta(std::size_t set, std::size_t norm) const {
    return gamma(set, norm) + hidden_;
  }

  void add_to(const NormTensors& tensors, std::size_t norm) const {
    auto* const gamma_gradient = tensors.gamma_gradient.mutable_data_ptr<float>();
    auto* const beta_gradient = tensors.beta_gradient.mutable_data_ptr<float>();
    for (std::size_t set = 0; set < sets_; ++set) {
      for (std::size_t i = 0; i < hidden_; ++i) {
        gamma_gradient[i] += gamma(set, norm)[i];
        beta_gradient[i] += beta(set, norm)[i];
      }
    }
  }

 private:
  Buffer<float> sums_;
  std::size_t sets_ = 0;
  std::size_t norms_ = 0;
  std::size_t hidden_ = 0;
};

}  // namespace seqtrain::model::cpu
