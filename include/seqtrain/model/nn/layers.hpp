#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>

#include <seqtrain/model/nn/parameters.hpp>

namespace seqtrain::model {

/// Computes x Wᵀ + b over the last dimension.
struct Linear {
  Linear(const Scope& scope, std::int64_t in, std::int64_t out)
      : weight{scope.make("weight", {out, in}, Init::normal)},
        bias{scope.make("bias", {out}, Init::zeros)} {}

  at::Tensor operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }

  at::Tensor weight;  ///< [out, in]
  at::Tensor bias;    ///< [out]
};

/// Normalizes the last dimension to mean 0 and variance 1, then scales and shifts it (Ba et al.
/// 2016).
struct LayerNorm {
  LayerNorm(const Scope& scope, std::int64_t size, double epsilon)
      : weight{scope.make("weight", {size}, Init::ones)},
        bias{scope.make("bias", {size}, Init::zeros)},
        eps{epsilon} {}

  at::Tensor operator()(const at::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias, eps);
  }

  at::Tensor weight;  ///< [size]
  at::Tensor bias;    ///< [size]
  double eps;
};

/// A row for each id. The row `padding_id`, if there is one, is never trained.
struct Embedding {
  Embedding(const Scope& scope, std::int64_t rows, std::int64_t size, std::int64_t padding = -1)
      : weight{scope.make("weight", {rows, size}, Init::normal)}, padding_id{padding} {}

  at::Tensor operator()(const at::Tensor& ids) const {
    return at::embedding(weight, ids, padding_id);
  }

  at::Tensor weight;  ///< [rows, size]
  std::int64_t padding_id;
};

}  // namespace seqtrain::model
