#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::packed {

/// The parts of one layer of BERT's form, for `Layers`.
struct LayerParts {
  std::vector<Linear> qkv;  ///< the maps of queries, keys and values
  Linear attention_output, intermediate, output;
  LayerNorm attention_norm, output_norm;
  ActivationKind activation;
  std::int64_t heads;
  cpu::DropoutRates dropout;
};

/// Copies of parameters in the type of products, which are made again when a parameter has changed.
class ParameterCopies {
 public:
  /// Makes `copy` follow `value`, which has the same shape.
  void add(const at::Tensor& value, const at::Tensor& copy) {
    values_.push_back(value.detach());
    copies_.push_back(copy);
  }

  void refresh() {
    std::int64_t changes = 0;
    for (const at::Tensor& value : values_) changes += tensor::changes_of(value);
    if (changes == changes_) return;
    at::_foreach_copy_(copies_, values_);
    changes_ = changes;
  }

 private:
  std::vector<at::Tensor> values_, copies_;
  std::int64_t changes_ = -1;
};

/// A linear map whose factors are of some type and whose gradients are fp32. Maps with the same
/// input are one product, and their gradients become parts of one tensor.
class Map {
 public:
  /// Every map must have a bias.
  Map(std::span<const Linear> maps, at::ScalarType type, ParameterCopies& copies,
      std::span<tensor::Parameter> parameters) {
    std::int64_t out = 0;
    for (const Linear& map : maps) out += map.weight.size(0);
    const std::int64_t in = maps[0].weight.size(1);
    const auto options = maps[0].weight.options().requires_grad(false);
    const bool copied = maps.size() > 1 || type != at::kFloat;
    weight_ = copied ? at::empty({out, in}, options.dtype(type)) : maps[0].weight.detach();
    bias_ = copied ? at::empty({out}, options.dtype(type)) : maps[0].bias.detach();
    if (maps[0].weight.requires_grad()) {
      d_weight_ = at::zeros({out, in}, options);
      d_bias_ = at::zeros({1, out}, options);
    }
    std::int64_t row = 0;
    for (const Linear& map : maps) {
      const auto rows = [&](const at::Tensor& all) {
        return all.narrow(0, row, map.weight.size(0));
      };
      if (copied) copies.add(map.weight, rows(weight_));
      if (copied) copies.add(map.bias, rows(bias_));
      if (d_weight_.defined()) {
        set_gradient(map.weight, rows(d_weight_), parameters);
        set_gradient(map.bias, rows(d_bias_[0]), parameters);
      }
      row += map.weight.size(0);
    }
  }

  /// Returns x Wᵀ + b of x [tokens, in].
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const {
    return at::addmm(bias_, x, weight_.t());
  }

  /// Adds the gradients of W and b, given x, the gradient of the result, and as many ones as x has
  /// tokens or more.
  void add_gradients(const at::Tensor& x, const at::Tensor& d_y, const at::Tensor& ones) {
    if (!d_weight_.defined()) return;
    add_product(d_weight_, d_y.t(), x);
    add_product(d_bias_, ones.narrow(1, 0, x.size(0)), d_y);
  }

  /// Returns the gradient of x, given that of the result.
  [[nodiscard]] at::Tensor backward(const at::Tensor& d_y) const { return at::mm(d_y, weight_); }

  /// Adds the gradient of x to d_x, which is fp32.
  void backward_into(at::Tensor& d_x, const at::Tensor& d_y) const {
    add_product(d_x, d_y, weight_);
  }

 private:
  /// Adds the product of a and b, whose sums are fp32, to `sum`.
  static void add_product(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
    if (a.scalar_type() == at::kFloat) {
      at::addmm_out(sum, sum, a, b);
    } else {
      at::addmm_out(sum, sum, a, b, at::kFloat);
    }
  }

  static void set_gradient(const at::Tensor& value, const at::Tensor& gradient,
                           std::span<tensor::Parameter> parameters) {
    for (tensor::Parameter& parameter : parameters) {
      if (!parameter.value.is_same(value)) continue;
      parameter.gradient = gradient;
      parameter.value.mutable_grad() = gradient;
    }
  }

  at::Tensor weight_, bias_;
  at::Tensor d_weight_, d_bias_;
};

}  // namespace seqtrain::model::packed
