#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/mm.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/backend.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/operator_backend.hpp>
#include <seqtrain/model/packed/attention.hpp>
#include <seqtrain/model/packed/layer_graphs.hpp>
#include <seqtrain/model/packed/layers.hpp>
#include <seqtrain/model/packed/norm_on_device.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::packed {

/// Computes an encoder without padding on a GPU, with a few operators for each layer and without
/// autograd. Autograd computes the embeddings, the head, the pooling and what `packed::Layers`
/// leaves to it. `OperatorBackend` computes a batch in which a text has the padding's id among its
/// tokens, because families count its positions in other ways, and one that needs a window which
/// the device does not have.
class PackedBackend : public OperatorBackend {
 public:
  /// The gradient tensors of `parameters` may be replaced. `norms`, unless they are null, compute
  /// the layers' norms.
  PackedBackend(const Network& network, const EncoderLayers& layers,
                std::span<tensor::Parameter> parameters, c10::Device device, Precision precision,
                std::int32_t padding_id, bool encoder_frozen, bool keeps_tokens, bool has_windows,
                const std::shared_ptr<const NormOnDevice>& norms)
      : OperatorBackend{network, parameters, device, precision, encoder_frozen, keeps_tokens},
        layers_{layers, type_of_products(precision), parameters, keeps_tokens, norms},
        padding_id_{padding_id},
        has_windows_{has_windows},
        mean_{layers.mean_pooling} {}

  /// Lets graphs compute the layers, but not if they have a bias on scores or a convolution, nor in
  /// steps with `ready`. Returns what the log should say. `parameters` are the network's.
  std::string use_graphs(std::span<const tensor::Parameter> parameters) {
    try {
      if (!layers_.fit_graphs())
        throw Error{"scores with a bias and convolutions cannot be captured"};
      graphs_.emplace(layers_, parameters, parameters.front().value.device());
      return "The layers' passes are graphs on " + parameters.front().value.device().str();
    } catch (const std::exception& error) {
      return std::string{"the layers' operators are started one by one: "} + error.what();
    }
  }

  at::Tensor accumulate(const StepInputs& step) override {
    if (needs_operators(step.batch)) return OperatorBackend::accumulate(step);
    touch_words(step.batch);
    const auto input = tensor::to_device_packed(step.batch, device_);
    const Rows rows = rows_of(step.batch, input);
    Dropout dropout{step.stream.at(0), device_};
    if (encoder_frozen_) {
      return loss_and_backward(step, head(evaluate(step.batch, input, rows), dropout), input);
    }
    const tensor::SeededGenerator seeded{step.stream.at(1), device_};
    const Forgotten at_the_end{&layers_};
    const at::Tensor embedded = embed(input, dropout);
    const auto* const graphs = step.ready ? nullptr : graphs_for(embedded, rows, true);
    const at::Tensor hidden = compute(embedded, rows, true, graphs).set_requires_grad(true);
    const at::Tensor loss =
        loss_and_backward(step, head(pool(hidden, step.batch, input), dropout), input);
    if (!loss.defined()) return loss;
    const at::Tensor gradient = [&] {
      const at::NoGradGuard no_gradients;
      return graphs != nullptr ? graphs->backward(hidden.grad())
                               : layers_.backward(hidden.grad(), rows, step.ready);
    }();
    if (embedded.requires_grad()) embedded.backward(gradient);
    return loss;
  }

  at::Tensor logits(const data::Batch& batch) override {
    if (needs_operators(batch)) return OperatorBackend::logits(batch);
    const auto input = tensor::to_device_packed(batch, device_);
    Dropout off;
    return head(evaluate(batch, input, rows_of(batch, input)), off);
  }

  at::Tensor hidden(const data::Batch& batch) override {
    if (needs_operators(batch)) return OperatorBackend::hidden(batch);
    const auto input = tensor::to_device_packed(batch, device_);
    return evaluate(batch, input, rows_of(batch, input)).to(at::kFloat);
  }

 private:
  static std::int64_t longest(const data::Batch& batch) {
    return *std::ranges::max_element(batch.lengths);
  }

  /// Tells whether a row, among them that of zeros, is longer than the window of a layer.
  [[nodiscard]] bool windowed(const data::Batch& batch) const {
    const std::int64_t most = std::max(longest(batch), tensor::packed_tokens_multiple);
    return static_cast<std::size_t>(most - 1) > layers_.sliding_window();
  }

  [[nodiscard]] bool needs_operators(const data::Batch& batch) const {
    if (!has_windows_ && windowed(batch)) return true;
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      const auto* const ids = batch.input_ids.data() + row * batch.width;
      const auto* const end = ids + batch.lengths[static_cast<std::size_t>(row)];
      if (std::find(ids, end, padding_id_) != end) return true;
    }
    return false;
  }

  [[nodiscard]] Rows rows_of(const data::Batch& batch, const tensor::Batch& input) const {
    const auto rounded = [&](std::int64_t by) { return (longest(batch) + by - 1) / by * by; };
    return {.starts = input.starts,
            .positions = input.positions.view({-1, 1, 1}),
            .longest = rounded(tensor::packed_tokens_multiple),
            .windowed = windowed(batch),
            .width = rounded(16)};
  }

  /// Returns the hidden states before the layers, [tokens, hidden], fp32.
  [[nodiscard]] at::Tensor embed(const tensor::Batch& input, Dropout& dropout) const {
    const auto narrow = autocast();
    return network_->embed(input, dropout).squeeze(0).to(at::kFloat);
  }

  /// Returns the graphs for a batch, or null if operators compute its layers.
  const GraphsOfSize* graphs_for(const at::Tensor& embedded, const Rows& rows, bool training) {
    return graphs_ ? graphs_->find(embedded.detach(), rows, training) : nullptr;
  }

  at::Tensor compute(const at::Tensor& embedded, const Rows& rows, bool training,
                     const GraphsOfSize* graphs) {
    const at::NoGradGuard no_gradients;
    if (graphs != nullptr) return graphs->forward();
    return layers_.forward(embedded.detach(), rows, training);
  }

  /// Returns the hidden states [rows, hidden] of first tokens, the means of rows, or the states of
  /// all tokens, [rows, width, hidden], with 0 for padding.
  [[nodiscard]] at::Tensor pool(const at::Tensor& hidden, const data::Batch& batch,
                                const tensor::Batch& input) const {
    if (keeps_tokens_) return pad(hidden, batch.width, input);
    if (!mean_) return hidden;
    const at::Tensor token = at::arange(hidden.size(0), input.starts.options());
    const auto has_begun = [&](std::int64_t row) {
      return token.ge(input.starts.narrow(0, row, batch.rows).unsqueeze(1));
    };
    const at::Tensor belongs = has_begun(0).logical_xor(has_begun(1));
    return at::mm(belongs.div(input.lengths.unsqueeze(1)), hidden);
  }

  /// Returns the states [rows, width, hidden] of packed tokens [tokens, hidden].
  [[nodiscard]] static at::Tensor pad(const at::Tensor& hidden, std::int64_t width,
                                      const tensor::Batch& input) {
    const std::int64_t rows = input.lengths.size(0);
    const at::Tensor place = at::arange(width, input.starts.options());
    const at::Tensor is_padding = place.ge(input.lengths.unsqueeze(1));
    const at::Tensor token = input.starts.narrow(0, 0, rows).unsqueeze(1).add(place);
    const at::Tensor places = token.masked_fill(is_padding, 0).flatten();
    return hidden.index_select(0, places)
        .view({rows, width, hidden.size(1)})
        .masked_fill(is_padding.unsqueeze(2), 0);
  }

  /// Returns the hidden states that the head takes, in evaluation mode.
  at::Tensor evaluate(const data::Batch& batch, const tensor::Batch& input, const Rows& rows) {
    const at::NoGradGuard no_gradients;
    Dropout off;
    const auto encode = [&] {
      const at::Tensor embedded = embed(input, off);
      const auto* const graphs = graphs_for(embedded, rows, false);
      return pool(compute(embedded, rows, false, graphs), batch, input);
    };
    return encoder_frozen_ ? frozen_states(batch, encode) : encode();
  }

  /// Frees the layers' saved activations, also if the memory was too small for the step.
  struct Forgotten {
    Layers* layers;
    ~Forgotten() { layers->forget(); }
  };

  Layers layers_;
  std::optional<LayerGraphs> graphs_;  ///< of `layers_`
  std::int32_t padding_id_;
  bool has_windows_, mean_;
};

}  // namespace seqtrain::model::packed
