#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Device.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/operator_passes.hpp>
#include <seqtrain/model/packed/layers.hpp>
#include <seqtrain/model/packed/map.hpp>
#include <seqtrain/model/passes.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::packed {

/// Computes an encoder without padding on a GPU, with a few operators for each layer and without
/// autograd. Autograd computes the embeddings and the head. A text that has the padding's
/// id among its tokens is computed by `OperatorPasses`, because families count its positions in
/// other ways.
class PackedPasses : public OperatorPasses {
 public:
  /// The gradients of `parameters` may get other tensors.
  PackedPasses(const Network& network, std::span<const LayerParts> parts,
               std::span<tensor::Parameter> parameters, c10::Device device, Precision precision,
               std::int32_t padding_id, bool encoder_frozen)
      : OperatorPasses{network, parameters, device, precision, encoder_frozen},
        layers_{parts, type_of_products(precision), parameters},
        padding_id_{padding_id} {}

  at::Tensor accumulate(const StepInputs& step) override {
    if (has_padding_inside(step.batch)) return OperatorPasses::accumulate(step);
    const auto input = tensor::to_device_packed(step.batch, device_);
    const Rows rows = rows_of(step.batch, input);
    Dropout dropout{step.stream.at(0), device_};
    if (encoder_frozen_) {
      return loss_and_backward(step, head(evaluate(step.batch, input, rows), dropout), input);
    }
    const tensor::SeededGenerator seeded{step.stream.at(1), device_};
    const Forgotten at_the_end{&layers_};
    const at::Tensor embedded = embed(input, dropout);
    const at::Tensor first = compute(embedded, rows, true).set_requires_grad(true);
    const at::Tensor loss = loss_and_backward(step, head(first, dropout), input);
    if (!loss.defined()) return loss;
    embedded.backward([&] {
      const at::NoGradGuard no_gradients;
      return layers_.backward(first.grad(), rows);
    }());
    return loss;
  }

  at::Tensor logits(const data::Batch& batch) override {
    if (has_padding_inside(batch)) return OperatorPasses::logits(batch);
    const auto input = tensor::to_device_packed(batch, device_);
    Dropout off;
    return head(evaluate(batch, input, rows_of(batch, input)), off);
  }

 private:
  [[nodiscard]] bool has_padding_inside(const data::Batch& batch) const {
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      const auto* const ids = batch.input_ids.data() + row * batch.width;
      const auto* const end = ids + batch.lengths[static_cast<std::size_t>(row)];
      if (std::find(ids, end, padding_id_) != end) return true;
    }
    return false;
  }

  static Rows rows_of(const data::Batch& batch, const tensor::Batch& input) {
    const std::int64_t longest = *std::ranges::max_element(batch.lengths);
    return {.starts = input.starts,
            .first = input.starts.narrow(0, 0, batch.rows).to(at::kLong),
            .longest = std::max(longest, tensor::packed_tokens_multiple)};
  }

  /// Returns the hidden states before the layers, [tokens, hidden], fp32.
  [[nodiscard]] at::Tensor embed(const tensor::Batch& input, Dropout& dropout) const {
    const auto narrow = autocast();
    return network_->embed(input, dropout).squeeze(0).to(at::kFloat);
  }

  at::Tensor compute(const at::Tensor& embedded, const Rows& rows, bool training) {
    const at::NoGradGuard no_gradients;
    return layers_.forward(embedded.detach(), rows, training);
  }

  /// Returns the pooled hidden states [rows, hidden] in evaluation mode.
  at::Tensor evaluate(const data::Batch& batch, const tensor::Batch& input, const Rows& rows) {
    const at::NoGradGuard no_gradients;
    Dropout off;
    const auto encode = [&] { return compute(embed(input, off), rows, false); };
    return encoder_frozen_ ? frozen_states(batch, encode) : encode();
  }

  /// Lets go of what the layers kept, also if the memory was too small for the step.
  struct Forgotten {
    Layers* layers;
    ~Forgotten() { layers->forget(); }
  };

  Layers layers_;
  std::int32_t padding_id_;
};

}  // namespace seqtrain::model::packed
