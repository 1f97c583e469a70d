#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Device.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/backend.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/model/row_cache.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model {

/// Computes the encoder by its hand-written kernels, on the processor, and the head by autograd, in
/// fp32 and on one thread.
class KernelBackend : public Backend {
 public:
  /// `parameters` are those of the network that `Network::kernels` has left. If `keeps_tokens`, the
  /// head takes the states of all tokens.
  KernelBackend(std::unique_ptr<cpu::AnyEncoder> encoder, const Network& network,
                std::span<const tensor::Parameter> parameters, bool encoder_frozen,
                bool keeps_tokens)
      : encoder_{std::move(encoder)},
        network_{&network},
        encoder_frozen_{encoder_frozen},
        caches_states_{encoder_frozen && !keeps_tokens},
        frozen_states_{parameters} {}

  at::Tensor accumulate(const StepInputs& step) override {
    Dropout dropout{step.stream.at(0), c10::kCPU};
    const auto input = tensor::to_device(step.batch, c10::kCPU);
    // This leaf's gradient is the input of the kernels' backward pass.
    const at::Tensor first =
        encoder_frozen_ ? evaluate(step.batch)
                        : encoder_->forward(step.batch, step.stream).set_requires_grad(true);
    const at::Tensor loss = [&] {
      const tensor::OneThread one_thread;
      return loss_and_backward(step, network_->head(first, dropout).to(at::kFloat), input);
    }();
    if (!encoder_frozen_ && loss.defined()) encoder_->backward(first.grad(), step.ready);
    return loss;
  }

  at::Tensor logits(const data::Batch& batch) override {
    const at::Tensor first = evaluate(batch);
    const auto blocks = blocks_of(batch);
    std::vector<at::Tensor> logits(blocks.size());
    tensor::for_each_operator_task(blocks.size(),
                                   [&](std::size_t i) { logits[i] = head(first, blocks[i]); });
    std::int64_t columns = 0;
    for (const at::Tensor& some : logits) columns = std::max(columns, some.size(1));
    for (at::Tensor& some : logits) {
      if (some.size(1) < columns) some = at::constant_pad_nd(some, {0, columns - some.size(1)});
    }
    return at::cat(logits);
  }

  at::Tensor hidden(const data::Batch& batch) override { return evaluate(batch); }

  bool add_adapter(std::unique_ptr<Network> adapter, Precision precision) override {
    const auto kernels = adapter->kernels({}, precision, true);
    if (!kernels || !encoder_->take_adapter(*kernels)) return false;
    adapter->forget_encoder();
    adapters_.push_back(std::move(adapter));
    return true;
  }

 private:
  /// Returns the hidden states that the head takes, in evaluation mode. Those of a frozen encoder
  /// may have been computed earlier, if they are pooled.
  at::Tensor evaluate(const data::Batch& batch) {
    const auto compute = [&] { return encoder_->forward(batch, {}); };
    return caches_states_ ? frozen_states_(batch, compute) : compute();
  }

  /// Neighbouring rows with the same head.
  struct Block {
    static constexpr std::int64_t rows = 8;  ///< the most
    std::int32_t adapter;
    std::int64_t first;
    std::int64_t count;
  };

  static std::vector<Block> blocks_of(const data::Batch& batch) {
    std::vector<Block> blocks;
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      const auto adapter =
          batch.adapters.empty() ? 0 : batch.adapters[static_cast<std::size_t>(row)];
      if (blocks.empty() || blocks.back().adapter != adapter ||
          blocks.back().count == Block::rows) {
        blocks.push_back({adapter, row, 0});
      }
      ++blocks.back().count;
    }
    return blocks;
  }

  /// Returns logits of some rows of hidden states. A row's bits do not depend on the other rows of
  /// one width: linear layers compute each row alone (`detail::linear`), and the other operators
  /// always get the same number of rows, because their results may depend on it.
  [[nodiscard]] at::Tensor head(const at::Tensor& hidden, const Block& block) const {
    const auto number = static_cast<std::size_t>(block.adapter);
    const Network& network = number == 0 ? *network_ : *adapters_.at(number - 1);
    auto sizes = hidden.sizes().vec();
    sizes.front() = Block::rows;
    const at::Tensor part = at::zeros(sizes, at::kFloat);
    part.narrow(0, 0, block.count).copy_(hidden.narrow(0, block.first, block.count));
    Dropout off;
    return network.head(part, off).to(at::kFloat).narrow(0, 0, block.count);
  }

  std::unique_ptr<cpu::AnyEncoder> encoder_;
  const Network* network_;
  bool encoder_frozen_, caches_states_;
  std::vector<std::unique_ptr<Network>> adapters_;  // their heads
  FrozenStates frozen_states_;
};

}  // namespace seqtrain::model
