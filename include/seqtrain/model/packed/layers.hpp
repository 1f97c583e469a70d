#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_efficient_attention_backward.h>
#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/native_dropout_backward.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/model/packed/map.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::packed {

/// The rows of a packed batch: their tokens follow one another without padding.
struct Rows {
  at::Tensor starts;     ///< as in `tensor::Batch`
  at::Tensor first;      ///< int64 [rows]: each row's first token
  std::int64_t longest;  ///< the largest number of tokens of a row
};

/// A layer normalization, and its numbers of one forward pass.
class Norm {
 public:
  Norm(const LayerNorm& norm) : norm_{norm} {}

  at::Tensor forward(at::Tensor x) {
    at::Tensor y;
    std::tie(y, mean_, rstd_) =
        at::native_layer_norm(x, norm_.weight.sizes(), norm_.weight, norm_.bias, norm_.eps);
    x_ = std::move(x);
    return y;
  }

  /// Returns the gradient of x, and appends the new gradients of the parameters.
  at::Tensor backward(const at::Tensor& d_y, std::vector<at::Tensor>& gradients,
                      std::vector<at::Tensor>& added) {
    const bool learns = norm_.weight.requires_grad();
    auto [d_x, d_weight, d_bias] =
        at::native_layer_norm_backward(d_y, std::exchange(x_, {}), norm_.weight.sizes(), mean_,
                                       rstd_, norm_.weight, norm_.bias, {true, learns, learns});
    if (learns) {
      gradients.insert(gradients.end(), {norm_.weight.grad(), norm_.bias.grad()});
      added.insert(added.end(), {d_weight, d_bias});
    }
    forget();
    return d_x;
  }

  void forget() { x_ = mean_ = rstd_ = at::Tensor{}; }

 private:
  LayerNorm norm_;
  at::Tensor x_, mean_, rstd_;
};

/// Dropout by the device's own generator, and its mask of one forward pass.
class MaskedDropout {
 public:
  explicit MaskedDropout(double probability) : probability_{probability} {}

  at::Tensor forward(const at::Tensor& x, bool training) {
    mask_.reset();
    if (!training || probability_ == 0) return x;
    at::Tensor y;
    std::tie(y, mask_) = at::native_dropout(x, probability_, true);
    return y;
  }

  at::Tensor backward(const at::Tensor& d_y) {
    if (!mask_.defined()) return d_y;
    return at::native_dropout_backward(d_y, std::exchange(mask_, {}), 1 / (1 - probability_));
  }

 private:
  double probability_;
  at::Tensor mask_;
};

/// One layer of BERT's form. The residual is fp32; the factors of products are of another type.
class Layer {
 public:
  Layer(const LayerParts& parts, at::ScalarType type, ParameterCopies& copies,
        std::span<tensor::Parameter> parameters)
      : type_{type},
        qkv_{parts.qkv, type, copies, parameters},
        attention_output_{{&parts.attention_output, 1}, type, copies, parameters},
        intermediate_{{&parts.intermediate, 1}, type, copies, parameters},
        output_{{&parts.output, 1}, type, copies, parameters},
        norm1_{parts.attention_norm},
        norm2_{parts.output_norm},
        dropout1_{parts.dropout.attention_output},
        dropout2_{parts.dropout.output},
        attention_dropout_{parts.dropout.attention},
        activation_{parts.activation},
        heads_{parts.heads} {}

  /// Returns the hidden states after the layer, for those before it [tokens, hidden], fp32. With
  /// `only_first` they are those of each row's first token, [rows, hidden].
  at::Tensor forward(const at::Tensor& x, const Rows& rows, bool training, bool only_first) {
    only_first_ = only_first;
    input_ = x.to(type_);
    at::Tensor residual = x;
    context_ = attend(qkv_.forward(input_), rows, training);
    if (only_first) {
      chosen_ = context_.index_select(0, rows.first);
      residual = x.index_select(0, rows.first);
    } else {
      chosen_ = context_;
    }
    at::Tensor y = dropout1_.forward(attention_output_.forward(chosen_), training);
    y = norm1_.forward(residual.add(y));
    attended_ = y.to(type_);
    before_activation_ = intermediate_.forward(attended_);
    activated_ = activate(before_activation_);
    const at::Tensor output = dropout2_.forward(output_.forward(activated_), training);
    return norm2_.forward(y.add(output));
  }

  /// Returns the gradient of the hidden states before the layer, given that after it, and lets go
  /// of what `forward` kept. `ones` [1, tokens] is of the type of products.
  at::Tensor backward(const at::Tensor& gradient, const Rows& rows, const at::Tensor& ones,
                      std::vector<at::Tensor>& norm_gradients, std::vector<at::Tensor>& added) {
    at::Tensor d = norm2_.backward(gradient, norm_gradients, added);
    at::Tensor d_y = dropout2_.backward(d.to(type_));
    output_.add_gradients(std::exchange(activated_, {}), d_y, ones);
    d_y = activation_backward(output_.backward(d_y), std::exchange(before_activation_, {}));
    intermediate_.add_gradients(std::exchange(attended_, {}), d_y, ones);
    intermediate_.backward_into(d, d_y);
    d = norm1_.backward(d, norm_gradients, added);
    d_y = dropout1_.backward(d.to(type_));
    attention_output_.add_gradients(std::exchange(chosen_, {}), d_y, ones);
    at::Tensor d_context = attention_output_.backward(d_y);
    if (only_first_) {
      d_context = at::zeros_like(context_).index_copy_(0, rows.first, d_context);
      d = at::zeros(context_.sizes(), d.options()).index_copy_(0, rows.first, d);
    }
    d_y = attend_backward(d_context, rows);
    qkv_.add_gradients(std::exchange(input_, {}), d_y, ones);
    qkv_.backward_into(d, d_y);
    return d;
  }

  /// Returns a one for each token that `forward` got, [1, tokens], of the type of products.
  [[nodiscard]] at::Tensor ones() const { return at::ones({1, input_.size(0)}, input_.options()); }

  /// Lets go of what `forward` kept.
  void forget() {
    input_ = qkv_result_ = context_ = chosen_ = attended_ = before_activation_ = activated_ =
        logsumexp_ = seed_ = offset_ = at::Tensor{};
    norm1_.forget();
    norm2_.forget();
  }

 private:
  /// Returns x [tokens, n · hidden] as n tensors [1, tokens, heads, hidden / heads].
  template <std::size_t n>
  [[nodiscard]] std::array<at::Tensor, n> split(const at::Tensor& x) const {
    const auto count = static_cast<std::int64_t>(n);
    const at::Tensor parts = x.view({1, x.size(0), count, heads_, x.size(1) / count / heads_});
    std::array<at::Tensor, n> result;
    for (std::size_t i = 0; i < n; ++i) result[i] = parts.select(2, static_cast<std::int64_t>(i));
    return result;
  }

  /// Returns attention (Rabe and Staats 2021) [tokens, hidden] of q, k and v [tokens, 3 hidden].
  at::Tensor attend(at::Tensor qkv, const Rows& rows, bool training) {
    const auto [q, k, v] = split<3>(qkv);
    at::Tensor context;
    std::tie(context, logsumexp_, seed_, offset_, std::ignore, std::ignore) =
        at::_efficient_attention_forward(q, k, v, /*bias=*/{}, rows.starts, rows.starts,
                                         rows.longest, rows.longest,
                                         training ? attention_dropout_ : 0,
                                         /*custom_mask_type=*/0, /*compute_log_sumexp=*/training);
    const std::int64_t hidden = qkv.size(1) / 3;
    qkv_result_ = std::move(qkv);
    return context.view({context.size(1), hidden});
  }

  /// Returns the gradient of q, k and v side by side. One split of the keys gives equal bits.
  at::Tensor attend_backward(const at::Tensor& d_context, const Rows& rows) {
    const at::Tensor qkv = std::exchange(qkv_result_, {});
    const auto [q, k, v] = split<3>(qkv);
    const auto gradients = at::_efficient_attention_backward(
        split<1>(d_context)[0], q, k, v, /*bias=*/{}, split<1>(std::exchange(context_, {}))[0],
        rows.starts, rows.starts, rows.longest, rows.longest, logsumexp_, attention_dropout_, seed_,
        offset_, /*custom_mask_type=*/0, /*bias_requires_grad=*/false, /*scale=*/{},
        /*num_splits_key=*/1, /*window_size=*/{}, /*shared_storage_dqdkdv=*/true);
    // The three gradients are parts of one tensor, as q, k and v are.
    return std::get<0>(gradients).as_strided(qkv.sizes(), qkv.strides());
  }

  [[nodiscard]] std::string_view approximation() const {
    return activation_ == ActivationKind::gelu_new ? "tanh" : "none";
  }
  [[nodiscard]] at::Tensor activate(const at::Tensor& x) const {
    return activation_ == ActivationKind::relu ? at::relu(x) : at::gelu(x, approximation());
  }
  [[nodiscard]] at::Tensor activation_backward(const at::Tensor& d_y, const at::Tensor& x) const {
    if (activation_ == ActivationKind::relu) return at::threshold_backward(d_y, x, 0);
    return at::gelu_backward(d_y, x, approximation());
  }

  at::ScalarType type_;
  Map qkv_, attention_output_, intermediate_, output_;
  Norm norm1_, norm2_;
  MaskedDropout dropout1_, dropout2_;
  double attention_dropout_;
  ActivationKind activation_;
  std::int64_t heads_;
  bool only_first_ = false;
  at::Tensor input_, qkv_result_, context_, chosen_, attended_, before_activation_, activated_;
  at::Tensor logsumexp_, seed_, offset_;
};

/// The layers of an encoder, computed without padding and without autograd.
class Layers {
 public:
  /// `type` is the type of products. The gradients of `parameters` may get other tensors.
  Layers(std::span<const LayerParts> parts, at::ScalarType type,
         std::span<tensor::Parameter> parameters) {
    for (const LayerParts& layer : parts) layers_.emplace_back(layer, type, copies_, parameters);
  }

  /// Returns the hidden states of first tokens [rows, hidden], for those before the layers [tokens,
  /// hidden], all fp32. In training it keeps what `backward` needs.
  at::Tensor forward(at::Tensor hidden, const Rows& rows, bool training) {
    copies_.refresh();
    for (Layer& layer : layers_) {
      hidden = layer.forward(hidden, rows, training, &layer == &layers_.back());
      if (!training) layer.forget();
    }
    return hidden;
  }

  /// Adds the gradients of the parameters. Returns that of the hidden states before the layers,
  /// given that of the first tokens after them.
  at::Tensor backward(at::Tensor gradient, const Rows& rows) {
    const at::Tensor ones = layers_.front().ones();
    std::vector<at::Tensor> norm_gradients, added;
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      gradient = layer->backward(gradient, rows, ones, norm_gradients, added);
    }
    if (!added.empty()) at::_foreach_add_(norm_gradients, added);
    return gradient;
  }

  /// Lets go of what `forward` kept.
  void forget() {
    for (Layer& layer : layers_) layer.forget();
  }

 private:
  ParameterCopies copies_;
  std::vector<Layer> layers_;
};

}  // namespace seqtrain::model::packed
