#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Device.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/passes.hpp>
#include <seqtrain/model/row_cache.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model {

/// Keeps the hidden states that a frozen encoder computes for the rows of a loader's sets.
class FrozenStates {
 public:
  /// Returns the hidden states [rows, hidden] of a batch: kept states, or the result of compute(),
  /// which it keeps. It forgets all states if a value of a frozen parameter has changed.
  template <class Compute>
  at::Tensor operator()(const data::Batch& batch, std::int64_t hidden,
                        std::span<const tensor::Parameter> parameters, const Compute& compute) {
    const auto numbers = [](const at::Tensor& states) {
      return std::span{states.mutable_data_ptr<float>(), static_cast<std::size_t>(states.numel())};
    };
    forget_states_of_other_weights(parameters);
    at::Tensor states = at::empty({batch.rows, hidden}, at::kFloat);
    if (rows_.find(batch, numbers(states))) return states;
    states = compute();
    rows_.keep(batch, numbers(states));
    return states;
  }

 private:
  void forget_states_of_other_weights(std::span<const tensor::Parameter> parameters) {
    std::int64_t changes = 0;
    for (const auto& parameter : parameters) {
      if (!parameter.gradient.defined()) changes += tensor::changes_of(parameter.value);
    }
    if (std::exchange(changes_, changes) != changes) rows_.clear();
  }

  RowCache rows_{memory_for_states()};
  std::int64_t changes_ = 0;  // changes of the frozen parameters when `rows_` was computed
};

/// Computes the encoder by its hand-written passes, on the processor, and the head by autograd, in
/// fp32 and on one thread.
class KernelPasses : public Passes {
 public:
  /// `parameters` are those of the network that `Network::kernels` has left; `hidden` is the size
  /// of its hidden states.
  KernelPasses(cpu::AnyEncoder encoder, const Network& network,
               std::span<const tensor::Parameter> parameters, std::int64_t hidden,
               bool encoder_frozen)
      : encoder_{std::move(encoder)},
        network_{&network},
        parameters_{parameters},
        hidden_{hidden},
        encoder_frozen_{encoder_frozen} {}

  at::Tensor accumulate(const StepInputs& step) override {
    Dropout dropout{step.stream.at(0), c10::kCPU};
    const auto input = tensor::to_device(step.batch, c10::kCPU);
    // This leaf's gradient is the input of the kernels' backward pass.
    const at::Tensor first =
        encoder_frozen_ ? evaluate(step.batch)
                        : encoder_.forward(step.batch, step.stream).set_requires_grad(true);
    const at::Tensor loss = [&] {
      const tensor::OneThread one_thread;
      return loss_and_backward(step, head(first, dropout), input);
    }();
    if (!encoder_frozen_ && loss.defined()) encoder_.backward(first.grad(), step.ready);
    return loss;
  }

  at::Tensor logits(const data::Batch& batch) override {
    const at::Tensor first = evaluate(batch);
    const tensor::OneThread one_thread;
    return head_in_blocks(first);
  }

 private:
  /// Returns the pooled hidden states [rows, hidden] in evaluation mode. For a frozen encoder they
  /// may be states that were computed earlier.
  at::Tensor evaluate(const data::Batch& batch) {
    const auto compute = [&] { return encoder_.forward(batch, {}); };
    return encoder_frozen_ ? frozen_states_(batch, hidden_, parameters_, compute) : compute();
  }

  [[nodiscard]] at::Tensor head(const at::Tensor& first, Dropout& dropout) const {
    return network_->head(first, dropout).to(at::kFloat);
  }

  /// Returns logits of hidden states [rows, hidden]. A row's bits do not depend on the other rows:
  /// the operators always get the same number of rows, because their results depend on it.
  [[nodiscard]] at::Tensor head_in_blocks(const at::Tensor& first) const {
    constexpr std::int64_t block = 8;
    Dropout off;
    std::vector<at::Tensor> logits;
    for (std::int64_t row = 0; row < first.size(0); row += block) {
      const std::int64_t count = std::min(block, first.size(0) - row);
      const at::Tensor part = at::zeros({block, first.size(1)}, at::kFloat);
      part.narrow(0, 0, count).copy_(first.narrow(0, row, count));
      logits.push_back(head(part, off).narrow(0, 0, count));
    }
    return at::cat(logits);
  }

  cpu::AnyEncoder encoder_;
  const Network* network_;
  std::span<const tensor::Parameter> parameters_;
  std::int64_t hidden_;
  bool encoder_frozen_;
  FrozenStates frozen_states_;
};

}  // namespace seqtrain::model
