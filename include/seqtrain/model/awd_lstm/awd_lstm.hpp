#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/cpu/lstm.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/fresh_parameters.hpp>
#include <seqtrain/model/precision.hpp>

namespace seqtrain::model {

/// The state that the layers carry from one stretch of text to the next. A layer of an LSTM carries
/// h and c. A layer of a QRNN carries its hidden state as h and, if it looks back, its last input
/// as c. Each is [rows, size].
struct RecurrentState {
  /// The state of one layer.
  struct Layer {
    at::Tensor h, c;
  };
  std::vector<Layer> layers;

  [[nodiscard]] std::int64_t rows() const { return layers.empty() ? 0 : layers[0].h.size(0); }

  /// Sets a row to zero in all layers if one of its numbers is not finite. Does not wait for a
  /// device.
  void clear_broken_rows() {
    std::vector<at::Tensor> all;
    for (const Layer& layer : layers) all.insert(all.end(), {layer.h, layer.c});
    const at::Tensor broken = at::isfinite(at::cat(all, 1)).all(1, /*keepdim=*/true).logical_not();
    for (Layer& layer : layers) {
      layer = {layer.h.masked_fill(broken, 0), layer.c.masked_fill(broken, 0)};
    }
  }
};

/// Runs a quasi-recurrent layer (Bradbury et al. 2017) over x [rows, width, in] and returns [rows,
/// width, out]: h_t = f_t · z_t + (1 - f_t) · h_(t-1), times an output gate. z, f and the gate are
/// functions of x_t and, if the layer looks back, of x_(t-1). `weight` is [3 · out, in], or [3 ·
/// out, 2 · in] for a layer that looks back. Replaces `state`, the state before the first word, by
/// the state after the last word, detached from autograd.
inline at::Tensor qrnn(const at::Tensor& x, RecurrentState::Layer& state, const at::Tensor& weight,
                       const at::Tensor& bias) {
  const bool looks_back = weight.size(1) == 2 * x.size(2);
  at::Tensor source = x;
  if (looks_back) {
    source = at::cat({x, at::cat({state.c.unsqueeze(1), x.slice(1, 0, -1)}, 1)}, 2);
    state.c = x.select(1, -1).detach();
  }
  const auto gates = at::linear(source, weight, bias).chunk(3, 2);
  const at::Tensor forget = at::sigmoid(gates[1]);
  const at::Tensor taken = at::tanh(gates[0]).mul(forget), kept = forget.neg().add(1);
  std::vector<at::Tensor> hidden;
  at::Tensor h = state.h;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    h = taken.select(1, t).add(kept.select(1, t).mul(h));
    hidden.push_back(h);
  }
  state.h = h.detach();
  return at::sigmoid(gates[2]).mul(at::stack(hidden, 1));
}

/// Chooses the backend of an AWD-LSTM: the hand-written backend on a processor, and ATen's
/// operators on other devices and for quasi-recurrent layers.
struct RecurrentBackend {
  Precision precision = Precision::fp32;  ///< fp32, bf16 or automatic
  /// True if ATen's operators compute the model even if there is a hand-written backend.
  bool autograd = false;

  /// Returns the precision of the hand-written backend, or nothing if ATen's operators compute the
  /// passes. Throws `InputError` if the chosen backend does not support the precision.
  [[nodiscard]] std::optional<Precision> by_hand(c10::Device device, bool qrnn) const {
    const bool exist = device.is_cpu() && !qrnn && !autograd;
    const bool none = precision == Precision::int8 || precision == Precision::fp16;
    if (none || (precision == Precision::bf16 && !exist)) {
      throw InputError{"a recurrent model has no " + std::string{name(precision)} + " here",
                       {.object = "precision"},
                       exist ? "use fp32, bf16 or auto" : "use fp32 or auto"};
    }
    if (!exist) return std::nullopt;
    return resolve(precision, device);
  }
};

/// Sizes; the defaults are those of Howard and Ruder 2018.
struct AwdLstmShape {
  std::int64_t embedding = 400;
  std::int64_t hidden = 1152;  ///< outputs of a layer; the last has `embedding`
  std::int64_t layers = 3;
  bool qrnn = false;  ///< layers are quasi-recurrent, as fastai's AWD_QRNN has them

  /// Returns the number of inputs of a layer.
  [[nodiscard]] std::int64_t in(std::int64_t layer) const {
    return layer == 0 ? embedding : hidden;
  }
  /// Returns the number of outputs of a layer.
  [[nodiscard]] std::int64_t out(std::int64_t layer) const {
    return layer == layers - 1 ? embedding : hidden;
  }

  void validate() const {
    const auto demand = [](bool good, const char* field) {
      if (!good) throw InputError{"must be 1 to 65536", {.object = "AWD-LSTM", .field = field}};
    };
    demand(embedding >= 1 && embedding <= 65'536, "embedding");
    demand(hidden >= 1 && hidden <= 65'536, "hidden");
    demand(layers >= 1 && layers <= 65'536, "layers");
  }
};

/// Dropout rates; the defaults are fastai's for a language model.
struct AwdLstmDropout {
  double embedding = 0.02;  ///< rate for whole words
  double input = 0.25;      ///< rate for the embeddings' elements
  double weight = 0.2;      ///< rate for the hidden-to-hidden matrices' elements
  double hidden = 0.15;     ///< rate between layers
  double output = 0.1;      ///< rate after the last layer

  /// Returns fastai's rates for a classifier.
  [[nodiscard]] static AwdLstmDropout classifier() {
    return {.embedding = 0.05, .input = 0.4, .weight = 0.5, .hidden = 0.3, .output = 0.4};
  }

  /// Returns all rates times a factor.
  [[nodiscard]] AwdLstmDropout scaled(double factor) const {
    return {embedding * factor, input * factor, weight * factor, hidden * factor, output * factor};
  }

  [[nodiscard]] double greatest() const {
    return std::max({embedding, input, weight, hidden, output});
  }

  void validate() const {
    for (const double rate : {embedding, input, weight, hidden, output}) {
      if (rate >= 0 && rate < 1) continue;
      throw InputError{"rates must be at least 0 and below 1", {.object = "AWD-LSTM dropout"}};
    }
  }
};

/// Word embeddings and a stack of LSTM layers with the dropouts of Merity et al. 2017,
/// "Regularizing and optimizing LSTM language models". Dropout leaves out whole words of the
/// embedding; elements before and between layers, with one mask for all steps of a row; and weights
/// of the hidden-to-hidden matrices, with one mask for a batch. With `shape.qrnn` the layers are
/// quasi-recurrent instead, the first one looks back, and dropout applies to all their weights.
/// Parameters are named as in fastai, after `prefix`.
class AwdLstm {
 public:
  AwdLstm(FreshParameters& make, const std::string& prefix, std::int64_t vocab_size,
          std::int64_t padding_id, const AwdLstmShape& shape, const AwdLstmDropout& dropout,
          const RecurrentBackend& backend = {})
      : shape_{shape}, dropout_{dropout}, padding_id_{padding_id} {
    shape.validate();
    dropout.validate();
    embedding_ = make.uniform(prefix + "encoder.weight", {vocab_size, shape.embedding}, 0.1);
    groups_.push_back({prefix + "encoder.weight"});
    for (std::int64_t i = 0; i < shape.layers; ++i) add_layer(make, prefix, i);
    by_hand_ = backend.by_hand(embedding_.device(), shape.qrnn);
    if (by_hand_) lstm_ = cpu::make_lstm(*by_hand_);
  }

  /// Returns the hidden states of the last layer [rows, width, embedding] for ids [rows, width].
  /// Replaces `state`, the state before the first word, by the state after the last word,
  /// detached from autograd.
  at::Tensor operator()(const at::Tensor& ids, RecurrentState& state, Dropout& dropout) const {
    at::Tensor x = shared_over_time(embed(ids, dropout), dropout_.input, dropout);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (i > 0) x = shared_over_time(x, dropout_.hidden, dropout);
      x = run(layers_[i], x, state.layers[i], dropout);
    }
    return x;
  }

  /// Returns the state before the first word.
  [[nodiscard]] RecurrentState zero_state(std::int64_t rows) const {
    RecurrentState state;
    const auto options = embedding_.options().requires_grad(false);
    for (std::int64_t i = 0; i < shape_.layers; ++i) {
      const std::int64_t last_input = i == 0 ? shape_.in(0) : 1;
      const std::int64_t carried = shape_.qrnn ? last_input : shape_.out(i);
      state.layers.push_back(
          {at::zeros({rows, shape_.out(i)}, options), at::zeros({rows, carried}, options)});
    }
    return state;
  }

  /// Applies dropout to x [rows, width, size] with one mask for the whole width of a row.
  static at::Tensor shared_over_time(const at::Tensor& x, double rate, Dropout& dropout) {
    return dropout.masked(x, {x.size(0), 1, x.size(2)}, rate);
  }

  /// Returns the word embeddings [vocab_size, embedding].
  [[nodiscard]] const at::Tensor& embedding() const { return embedding_; }
  [[nodiscard]] std::int64_t vocab_size() const { return embedding_.size(0); }
  [[nodiscard]] const AwdLstmShape& shape() const { return shape_; }
  [[nodiscard]] const AwdLstmDropout& dropout() const { return dropout_; }
  /// Returns the precision of the hand-written backend, or nothing if ATen's operators are used.
  [[nodiscard]] std::optional<Precision> by_hand() const { return by_hand_; }

  /// Returns the embedding, then the layers.
  [[nodiscard]] const LayerGroups& groups() const { return groups_; }

 private:
  struct Layer {
    at::Tensor weight_hh;  ///< [4 · out, out]; in a QRNN all weights, [3 · out, in or 2 · in]
    at::Tensor weight_ih;  ///< [4 · out, in]
    at::Tensor bias_ih;    ///< [4 · out]; in a QRNN [3 · out]
    at::Tensor bias_hh;    ///< [4 · out]
  };

  void add_layer(FreshParameters& make, const std::string& prefix, std::int64_t i) {
    const std::int64_t in = shape_.in(i), out = shape_.out(i), looks_back = i == 0 ? 2 : 1;
    auto& names = groups_.emplace_back();
    const auto add = [&](const char* name, at::IntArrayRef shape, std::int64_t width) {
      names.push_back(prefix + "rnns." + std::to_string(i) + "." + name);
      return make.uniform(names.back(), shape, 1 / std::sqrt(static_cast<double>(width)));
    };
    if (shape_.qrnn) {
      const std::int64_t width = looks_back * in;
      layers_.push_back({.weight_hh = add("layers.0.linear.weight_raw", {3 * out, width}, width),
                         .weight_ih = {},
                         .bias_ih = add("layers.0.linear.module.bias", {3 * out}, width),
                         .bias_hh = {}});
      return;
    }
    layers_.push_back({.weight_hh = add("weight_hh_l0_raw", {4 * out, out}, out),
                       .weight_ih = add("module.weight_ih_l0", {4 * out, in}, out),
                       .bias_ih = add("module.bias_ih_l0", {4 * out}, out),
                       .bias_hh = add("module.bias_hh_l0", {4 * out}, out)});
  }

  /// Returns embeddings [rows, width, embedding]. The row of padding is never trained.
  at::Tensor embed(const at::Tensor& ids, Dropout& dropout) const {
    const at::Tensor x = at::embedding(embedding_, ids, padding_id_);
    if (!dropout.active(dropout_.embedding)) return x;
    const at::Tensor words = dropout.mask({vocab_size(), 1}, x.options(), dropout_.embedding);
    return x.mul(at::embedding(words, ids));
  }

  static at::Tensor run(const Layer& layer, const at::Tensor& x, RecurrentState::Layer& state,
                        const at::Tensor& weight_hh) {
    const auto [y, h, c] =
        at::lstm(x, {state.h.unsqueeze(0), state.c.unsqueeze(0)},
                 {layer.weight_ih, weight_hh, layer.bias_ih, layer.bias_hh}, /*has_biases=*/true,
                 /*num_layers=*/1, /*dropout=*/0, /*train=*/true, /*bidirectional=*/false,
                 /*batch_first=*/true);
    state = {h.squeeze(0).detach(), c.squeeze(0).detach()};
    return y;
  }

  at::Tensor run(const Layer& layer, const at::Tensor& x, RecurrentState::Layer& state,
                 Dropout& dropout) const {
    const at::Tensor weights = dropout(layer.weight_hh, dropout_.weight);
    if (shape_.qrnn) return qrnn(x, state, weights, layer.bias_ih);
    if (!lstm_) return run(layer, x, state, weights);
    return (*lstm_)(x, {layer.weight_ih, weights, layer.bias_ih, layer.bias_hh}, state.h, state.c);
  }

  AwdLstmShape shape_;
  AwdLstmDropout dropout_;
  std::optional<Precision> by_hand_;
  std::shared_ptr<cpu::Lstm> lstm_;  // the hand-written backend, if there is one
  std::int64_t padding_id_;
  at::Tensor embedding_;
  std::vector<Layer> layers_;
  LayerGroups groups_;
};

}  // namespace seqtrain::model
