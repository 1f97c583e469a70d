#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/native_dropout_backward.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::packed {

/// Copies of parameters in the type of products, each of which is made again when its parameter has
/// changed.
class ParameterCopies {
 public:
  explicit ParameterCopies(at::ScalarType type) : type_{type} {}

  [[nodiscard]] at::ScalarType type() const { return type_; }

  /// Returns the values one below the other, in the type of products. The result follows changes.
  /// Sets `copy` of each parameter whose value is among them.
  [[nodiscard]] at::Tensor joined(const std::vector<at::Tensor>& values,
                                  std::span<tensor::Parameter> parameters = {}) {
    const at::Tensor first = values.front().detach();
    if (values.size() == 1 && first.scalar_type() == type_) return first;
    at::Tensor copy = at::cat(values).detach().to(type_);
    std::int64_t row = 0;
    for (const at::Tensor& value : values) {
      const tensor::NarrowCopy part{copy.narrow(0, row, value.size(0))};
      values_.push_back(value.detach());
      copies_.push_back(std::make_shared<tensor::NarrowCopy>(part));
      row += value.size(0);
      for (tensor::Parameter& parameter : parameters) {
        if (parameter.value.is_same(value)) parameter.copy = copies_.back();
      }
    }
    return copy;
  }

  void refresh() {
    std::vector<at::Tensor> from, to;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::int64_t changes = tensor::changes_of(values_[i]);
      if (std::exchange(copies_[i]->changes, changes) == changes) continue;
      from.push_back(values_[i]);
      to.push_back(copies_[i]->value);
    }
    if (!to.empty()) at::_foreach_copy_(to, from);
  }

 private:
  at::ScalarType type_;
  std::vector<at::Tensor> values_;
  std::vector<std::shared_ptr<tensor::NarrowCopy>> copies_;
};

/// Adds `scale` times the product of a and b, whose sums are fp32, to `sum`.
inline void add_product(at::Tensor sum, const at::Tensor& a, const at::Tensor& b,
                        double scale = 1) {
  if (a.scalar_type() == sum.scalar_type()) {
    at::addmm_out(sum, sum, a, b, 1, scale);
  } else {
    at::addmm_out(sum, sum, a, b, sum.scalar_type(), 1, scale);
  }
}

/// Dropout by the device's own generator, and its mask of one forward pass.
class MaskedDropout {
 public:
  explicit MaskedDropout(double probability) : probability_{probability} {}

  /// Returns x after dropout, and keeps the mask.
  at::Tensor forward(const at::Tensor& x, bool training) {
    mask_.reset();
    if (!training || probability_ == 0) return x;
    at::Tensor y;
    std::tie(y, mask_) = at::native_dropout(x, probability_, true);
    return y;
  }

  /// Returns the gradient of x.
  at::Tensor backward(const at::Tensor& d_y) {
    if (!mask_.defined()) return d_y;
    return at::native_dropout_backward(d_y, std::exchange(mask_, {}), 1 / (1 - probability_));
  }

  void forget() { mask_.reset(); }

 private:
  double probability_;
  at::Tensor mask_;
};

/// The adapter of a linear layer, whose result is in `count` columns from `first` on, and its
/// numbers of one forward pass.
class Adapter {
 public:
  Adapter(const LowRank& low, std::int64_t first, std::int64_t count, ParameterCopies& copies)
      : low_{low},
        first_{first},
        count_{count},
        a_{copies.joined({low.a})},
        b_{copies.joined({low.b})},
        dropout_{low.dropout} {}

  /// Adds what the adapter computes of x [tokens, in] to y [tokens, out].
  void forward(const at::Tensor& x, const at::Tensor& y, bool training) {
    x_ = dropout_.forward(x, training);
    reduced_ = at::mm(x_, a_.t());
    add_product(y.narrow(1, first_, count_), reduced_, b_.t(), low_.scale);
  }

  /// Adds the gradients of A and B, and that of x to d_x.
  void backward(const at::Tensor& d_x, const at::Tensor& d_result) {
    const at::Tensor d_y = d_result.narrow(1, first_, count_);
    add_product(low_.b.grad(), d_y.t(), reduced_, low_.scale);
    const at::Tensor d_reduced = at::mm(d_y, b_);
    add_product(low_.a.grad(), d_reduced.t(), x_, low_.scale);
    if (low_.dropout > 0) {
      d_x.add_(dropout_.backward(at::mm(d_reduced, a_)), low_.scale);
    } else {
      add_product(d_x, d_reduced, a_, low_.scale);
    }
    forget();
  }

  void forget() {
    x_ = reduced_ = at::Tensor{};
    dropout_.forget();
  }

 private:
  LowRank low_;
  std::int64_t first_, count_;
  at::Tensor a_, b_;
  MaskedDropout dropout_;
  at::Tensor x_, reduced_;
};

/// A linear layer whose factors are of some type and whose gradients are fp32, and its input of one
/// forward pass. Maps with the same input are one product, and their gradients become parts of one
/// tensor. It adds what adapters of the linear layers compute.
class FusedLinear {
 public:
  /// All linear layers have a bias, or none of them has one.
  FusedLinear(const std::vector<Linear>& maps, ParameterCopies& copies,
              std::span<tensor::Parameter> parameters) {
    std::vector<at::Tensor> weights, biases;
    std::int64_t row = 0;
    for (const Linear& map : maps) {
      weights.push_back(map.weight);
      if (map.bias.defined()) biases.push_back(map.bias);
      const std::int64_t rows = map.weight.size(0);
      if (map.low_rank.a.defined()) adapters_.push_back({map.low_rank, row, rows, copies});
      row += rows;
    }
    weight_ = copies.joined(weights, parameters);
    if (!biases.empty()) bias_ = copies.joined(biases, parameters);
    if (!maps[0].weight.requires_grad()) return;
    d_weight_ = joined_gradient(weights, parameters);
    if (!biases.empty()) d_bias_ = joined_gradient(biases, parameters).unsqueeze(0);
  }

  /// Returns x Wᵀ + b of x [tokens, in], and what the adapters add.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, bool training) {
    if (d_weight_.defined()) x_ = x;
    const at::Tensor y =
        bias_.defined() ? at::addmm(bias_, x, weight_.t()) : at::mm(x, weight_.t());
    for (Adapter& adapter : adapters_) adapter.forward(x, y, training);
    return y;
  }

  /// Adds the gradients of the parameters, and that of x to d_x, given that of the result.
  void backward(const at::Tensor& d_x, const at::Tensor& d_y, const at::Tensor& ones) {
    add_product(d_x, d_y, weight_);
    add_gradients(d_x, d_y, ones);
  }

  /// Returns the gradient of x in the type of products, and adds those of the parameters. There
  /// must be as many `ones` as x has tokens, or more.
  [[nodiscard]] at::Tensor backward(const at::Tensor& d_y, const at::Tensor& ones) {
    at::Tensor d_x = at::mm(d_y, weight_);
    add_gradients(d_x, d_y, ones);
    return d_x;
  }

  void forget() {
    x_.reset();
    for (Adapter& adapter : adapters_) adapter.forget();
  }

 private:
  void add_gradients(const at::Tensor& d_x, const at::Tensor& d_y, const at::Tensor& ones) {
    for (Adapter& adapter : adapters_) adapter.backward(d_x, d_y);
    if (d_weight_.defined()) add_product(d_weight_, d_y.t(), x_);
    if (d_bias_.defined()) add_product(d_bias_, ones.narrow(1, 0, d_y.size(0)), d_y);
    x_.reset();
  }

  /// Gives the values gradients that lie one below the other, and returns them as one tensor.
  static at::Tensor joined_gradient(const std::vector<at::Tensor>& values,
                                    std::span<tensor::Parameter> parameters) {
    const at::Tensor all = at::zeros_like(at::cat(values).detach());
    std::int64_t row = 0;
    for (const at::Tensor& value : values) {
      const at::Tensor gradient = all.narrow(0, row, value.size(0));
      row += value.size(0);
      for (tensor::Parameter& parameter : parameters) {
        if (!parameter.value.is_same(value)) continue;
        parameter.gradient = gradient;
        parameter.value.mutable_grad() = gradient;
      }
    }
    return all;
  }

  at::Tensor weight_, bias_;
  at::Tensor d_weight_, d_bias_;
  std::vector<Adapter> adapters_;
  at::Tensor x_;
};

/// Returns the number of the first parameter of a layer's linear layers, or `parameters.size()`.
inline std::size_t first_of(const LayerParts& layer,
                            std::span<const tensor::Parameter> parameters) {
  std::vector<Linear> maps{layer.attention_output, layer.intermediate, layer.output};
  maps.insert(maps.end(), layer.qkv.begin(), layer.qkv.end());
  const auto is_in_a_map = [&](const tensor::Parameter& parameter) {
    return parameter.gradient.defined() && std::ranges::any_of(maps, [&](const Linear& map) {
             return parameter.value.is_same(map.weight) || parameter.value.is_same(map.low_rank.a);
           });
  };
  return static_cast<std::size_t>(std::ranges::find_if(parameters, is_in_a_map) -
                                  parameters.begin());
}

}  // namespace seqtrain::model::packed
