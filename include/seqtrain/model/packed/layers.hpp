#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/threshold_backward.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/distances.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/packed/attention.hpp>
#include <seqtrain/model/packed/convolution.hpp>
#include <seqtrain/model/packed/fused_linear.hpp>
#include <seqtrain/model/packed/norm.hpp>
#include <seqtrain/model/packed/norm_on_device.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::packed {

/// One layer on packed rows. `cpu::Layer` says what forms it has. The residual is fp32; the factors
/// of products are of another type.
class Layer {
 public:
  /// `kernels`, unless they are null, compute the norms.
  Layer(const LayerParts& parts, const DropoutRates& dropout, ParameterCopies& copies,
        std::span<tensor::Parameter> parameters, const std::shared_ptr<const NormOnDevice>& kernels)
      : traits_{parts.traits},
        type_{copies.type()},
        qkv_{parts.qkv, copies, parameters},
        attention_output_{{parts.attention_output}, copies, parameters},
        intermediate_{{parts.intermediate}, copies, parameters},
        output_{{parts.output}, copies, parameters},
        attention_{parts, dropout},
        norm1_{parts.norm1, dropout.attention_output, parts.traits, kernels},
        norm2_{parts.norm2, dropout.output, parts.traits, kernels},
        gates_{dropout.gates} {}

  /// Returns the hidden states after the layer, for those before it [tokens, hidden]. With
  /// `only_first` they are those of each row's first token, [rows, hidden].
  Hidden forward(Hidden x, const Rows& rows, bool training, bool only_first) {
    only_first_ = only_first;
    at::Tensor context = attention_.forward(qkv_.forward(x.as(type_), training), rows, training);
    if (only_first) {
      context = context.index_select(0, rows.first_tokens());
      x.residual = x.residual.index_select(0, rows.first_tokens());
    }
    const at::Tensor attended = attention_output_.forward(context, training);
    x = norm1_.forward(x.residual, attended, rows, training);
    before_activation_ = intermediate_.forward(x.as(type_), training);
    const at::Tensor active = gates_.forward(activate(before_activation_, traits_), training);
    const at::Tensor output = output_.forward(active, training);
    return norm2_.forward(x.residual, output, rows, training);
  }

  /// Returns the gradients of the hidden states before the layer, given those after it, and lets go
  /// of what `forward` kept. `ones` [1, tokens] is of the type of products.
  Hidden backward(Hidden d, const Rows& rows, const at::Tensor& ones, NormGradients& norms) {
    at::Tensor d_y = norm2_.backward(d, type_, norms);
    d_y = activated_backward(output_.backward(d_y, ones));
    intermediate_.backward(d.normal, d_y, ones);
    d_y = norm1_.backward(d, type_, norms);
    at::Tensor d_context = attention_output_.backward(d_y, ones);
    if (only_first_) {
      d_context = spread(d_context, rows);
      d = gradients_of(traits_, spread(d.residual, rows));
    }
    qkv_.backward(d.normal, attention_.backward(d_context, rows), ones);
    return d;
  }

  /// Frees the saved activations.
  void forget() {
    for (FusedLinear* map : {&qkv_, &attention_output_, &intermediate_, &output_}) map->forget();
    attention_.forget();
    norm1_.forget();
    norm2_.forget();
    gates_.forget();
    before_activation_.reset();
  }

 private:
  /// Returns [tokens, hidden] with x [rows, hidden] at the rows' first tokens and 0 elsewhere.
  static at::Tensor spread(const at::Tensor& x, const Rows& rows) {
    return at::zeros({rows.positions.size(0), x.size(1)}, x.options())
        .index_copy_(0, rows.first_tokens(), x);
  }

  at::Tensor activated_backward(at::Tensor d_y) {
    const at::Tensor x = std::exchange(before_activation_, {});
    const auto backward = [&](const at::Tensor& d, const at::Tensor& from) {
      return traits_.activation == ActivationKind::relu
                 ? at::threshold_backward(d, from, 0)
                 : at::gelu_backward(d, from, approximation(traits_.activation));
    };
    if (!traits_.gated) return backward(d_y, x);
    const auto parts = x.chunk(2, -1);
    d_y = gates_.backward(d_y);
    const at::Tensor d_gate = d_y.mul(activate(parts[0], traits_.activation));
    return at::cat({backward(d_y.mul(parts[1]), parts[0]), d_gate}, -1);
  }

  LayerTraits traits_;
  at::ScalarType type_;
  FusedLinear qkv_, attention_output_, intermediate_, output_;
  Attention attention_;
  AddAndNorm norm1_, norm2_;
  MaskedDropout gates_;
  bool only_first_ = false;
  at::Tensor before_activation_;
};

/// The layers of an encoder, computed without padding and, but for a convolution and a bias on
/// scores, without autograd.
class Layers {
 public:
  /// `type` is the type of products. The gradients of `parameters` may get other tensors. The last
  /// layer computes all tokens if `all_tokens` or the mean pools them. `norms`, unless they are
  /// null, compute the layers' norms.
  Layers(const EncoderLayers& parts, at::ScalarType type, std::span<tensor::Parameter> parameters,
         bool all_tokens, const std::shared_ptr<const NormOnDevice>& norms = nullptr)
      : copies_{type},
        all_tokens_{all_tokens || parts.mean_pooling},
        shares_{!parts.order.empty()},
        shares_bias_{!parts.layers.front().bias},
        distances_{parts.distances} {
    if (parts.convolution) convolution_.emplace(*parts.convolution);
    std::vector<Layer> made;
    for (const LayerParts& layer : parts.layers) {
      made.emplace_back(layer, parts.dropout, copies_, parameters, norms);
      sliding_window_ = std::min(sliding_window_, layer.traits.sliding_window);
    }
    for (const std::size_t i : steps(parts.order, made.size())) layers_.push_back(made[i]);
    if (shares_) return;
    first_of_layer_.resize(made.size());
    for (std::size_t i = made.size(), first = parameters.size(); i-- > 0;) {
      first = std::min(first, first_of(parts.layers[i], parameters));
      first_of_layer_[i] = first;
    }
  }

  /// Returns the distance of the farthest key of a query, in the layer where it is smallest.
  [[nodiscard]] std::size_t sliding_window() const { return sliding_window_; }

  /// Tells whether graphs can capture the passes: there is no autograd in them, and no copy from
  /// the host.
  [[nodiscard]] bool fit_graphs() const { return !distances_ && !convolution_; }

  /// Copies the parameters that have changed to the type of products, as `forward` does first.
  void refresh() { copies_.refresh(); }

  /// Returns the hidden states of first tokens [rows, hidden], or of all [tokens, hidden] for
  /// their means, for those before the layers [tokens, hidden], all fp32. In training it keeps what
  /// `backward` needs.
  at::Tensor forward(const at::Tensor& embedded, const Rows& rows, bool training) {
    copies_.refresh();
    if (distances_) make_grid(rows, training);
    Hidden hidden{embedded, embedded};
    for (Layer& layer : layers_) {
      hidden = layer.forward(hidden, rows, training, !all_tokens_ && &layer == &layers_.back());
      if (convolution_ && &layer == &layers_.front()) {
        const at::Tensor mixed =
            convolution_->forward(embedded, hidden.normal, rows, copies_.type(), training);
        hidden = {mixed, mixed};
      }
      if (!training) layer.forget();
    }
    return hidden.normal;
  }

  /// Adds the gradients of the parameters. Returns that of the hidden states before the layers,
  /// given that of `forward`'s result. Calls ready(i), if it is given, when those of the parameters
  /// from number i on are complete but for late ones; not if a layer is passed more than once.
  at::Tensor backward(const at::Tensor& gradient, const Rows& rows,
                      const std::function<void(std::size_t)>& ready) {
    const auto options = gradient.options().dtype(copies_.type());
    const at::Tensor ones = at::ones({1, rows.positions.size(0)}, options);
    NormGradients norms;
    Hidden d{.residual = {}, .normal = gradient};
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      if (convolution_ && layer + 1 == layers_.rend()) d.normal = convolution_->backward(d.normal);
      d = layer->backward(d, rows, ones, norms);
      if (shares_ || ready) norms.add();  // the operator takes each tensor once
      if (ready && !first_of_layer_.empty()) {
        ready(first_of_layer_[static_cast<std::size_t>(layers_.rend() - layer) - 1]);
      }
    }
    norms.add();
    if (rows.grid && rows.grid->shared.requires_grad()) {
      rows.grid->shared.backward(rows.grid->distances.numbers.grad());
    }
    if (convolution_) return d.normal.add(convolution_->d_embedded());
    return d.residual.is_same(d.normal) ? d.normal : d.residual.add(d.normal);
  }

  /// Frees the saved activations.
  void forget() {
    for (Layer& layer : layers_) layer.forget();
    if (convolution_) convolution_->forget();
  }

 private:
  void make_grid(const Rows& rows, bool training) const {
    const at::AutoGradMode enabled{training};
    Grid& grid = rows.grid.emplace(rows.starts, rows.positions, rows.width);
    grid.distances = distances_(rows.width);
    at::Tensor& numbers = grid.distances.numbers;
    grid.shared = shares_bias_ ? grid.masked(numbers, copies_.type()) : numbers;
    numbers = grid.shared.detach().set_requires_grad(grid.shared.requires_grad());
  }

  ParameterCopies copies_;
  bool all_tokens_;
  bool shares_;       ///< tokens pass through a layer more than once
  bool shares_bias_;  ///< the scores of all layers have one bias, if they have any
  DistancesOf distances_;
  std::size_t sliding_window_ = std::numeric_limits<std::size_t>::max();
  std::vector<Layer> layers_;
  std::optional<Convolution> convolution_;   ///< beside the first layer, which normalizes last
  std::vector<std::size_t> first_of_layer_;  ///< the argument of `ready` after each layer, or empty
};

}  // namespace seqtrain::model::packed
