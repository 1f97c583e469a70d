#pragma once

#include <algorithm>
#include <cstddef>

#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/linear.hpp>

namespace seqtrain::model::cpu {

/// Sums over rows for the gradients of several norms. Each task has a set of its own. The sets are
/// added in the order of the tasks, so the bits do not depend on which thread did what.
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

  /// Adds the sums of a norm to its gradients, if it learns.
  void add_to(const NormTensors& tensors, std::size_t norm) const {
    if (!tensors.d_gamma.defined()) return;
    add(tensors.d_gamma, [&](std::size_t set) { return gamma(set, norm); });
    if (tensors.d_beta.defined()) {
      add(tensors.d_beta, [&](std::size_t set) { return beta(set, norm); });
    }
  }

 private:
  template <class SumsOf>
  void add(const at::Tensor& gradient, const SumsOf& sums_of) const {
    auto* const to = gradient.mutable_data_ptr<float>();
    for (std::size_t set = 0; set < sets_; ++set) {
      const float* const sums = sums_of(set);
      for (std::size_t i = 0; i < hidden_; ++i) to[i] += sums[i];
    }
  }

  Buffer<float> sums_;
  std::size_t sets_ = 0;
  std::size_t norms_ = 0;
  std::size_t hidden_ = 0;
};

}  // namespace seqtrain::model::cpu
