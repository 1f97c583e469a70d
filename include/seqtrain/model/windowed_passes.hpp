#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/windows.hpp>
#include <seqtrain/model/passes.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::model {

/// Computes texts of any length by the passes of their windows. A text's logits are the mean of its
/// windows' logits, and it has one loss, whose gradient goes through all of its windows.
///
/// If a batch has more windows than fit into memory, they are computed part by part. A first
/// forward pass of all parts gives the logits, and with them the gradient of the loss with respect
/// to each window's logits. A second pass computes each part again, with the same dropout, and goes
/// back from that gradient (Gao et al. 2021, gradient caching). The result is that of one part up
/// to rounding, but for dropout, whose masks follow the parts.
class WindowedPasses : public Passes {
 public:
  /// `most_tokens` limits the ids of a part, with padding.
  WindowedPasses(std::unique_ptr<Passes> passes, const text::Windows& windows,
                 std::size_t most_tokens)
      : passes_{std::move(passes)}, windows_{windows}, most_tokens_{most_tokens} {}

  at::Tensor accumulate(const StepInputs& step) override {
    const auto cut = data::cut_into_windows(step.batch, windows_, most_tokens_);
    const auto loss_of = [&](const at::Tensor& logits) {
      auto texts = tensor::labels_of(step.batch);
      texts.labels = texts.labels.to(logits.device());
      if (texts.targets.defined()) texts.targets = texts.targets.to(logits.device());
      return step.loss(of_texts(logits, cut.counts), texts);
    };
    if (cut.parts.size() > 1) return accumulate_parts(step, cut, loss_of);
    const LossOfLogits loss = [&](const at::Tensor& logits, const auto&) { return loss_of(logits); };
    return passes_->accumulate({cut.parts.front(), step.weight, step.stream, loss, step.ready});
  }

  at::Tensor logits(const data::Batch& batch) override {
    const auto cut = data::cut_into_windows(batch, windows_, most_tokens_);
    std::vector<at::Tensor> logits;
    for (const auto& part : cut.parts) logits.push_back(passes_->logits(part));
    return of_texts(at::cat(logits), cut.counts);
  }

 private:
  /// Returns the logits of texts [texts, labels]. A text's bits do not depend on other texts.
  static at::Tensor of_texts(const at::Tensor& windows, std::span<const std::int64_t> counts) {
    if (windows.size(0) == std::ssize(counts)) return windows;
    std::vector<at::Tensor> texts;
    std::int64_t first = 0;
    for (const std::int64_t count : counts) {
      texts.push_back(windows.narrow(0, std::exchange(first, first + count), count).mean(0, true));
    }
    return at::cat(texts);
  }

  template <class Loss>
  at::Tensor accumulate_parts(const StepInputs& step, const data::WindowBatches& cut,
                              const Loss& loss_of) {
    const std::function<void(std::size_t)> not_yet = [](std::size_t) {};
    const auto stream_of = [&](std::size_t part) {  // other numbers than the passes themselves draw
      return random::Stream{step.stream.at((std::uint64_t{1} << 32) + part),
                            random::Purpose::dropout};
    };
    std::vector<at::Tensor> parts;
    const LossOfLogits keep = [&](const at::Tensor& logits, const auto&) {
      parts.push_back(logits.detach().clone());
      return at::Tensor{};
    };
    for (std::size_t i = 0; i < cut.parts.size(); ++i) {
      passes_->accumulate({cut.parts[i], 0, stream_of(i), keep, not_yet});
    }
    const at::Tensor logits = at::cat(parts).set_requires_grad(true);
    const at::Tensor loss = loss_of(logits);
    loss.backward(at::full_like(loss, step.weight));
    std::int64_t first = 0;
    const LossOfLogits again = [&](const at::Tensor& part, const auto&) {
      const std::int64_t count = part.size(0);
      const auto gradient = logits.grad().narrow(0, std::exchange(first, first + count), count);
      return (part * gradient).sum();
    };
    for (std::size_t i = 0; i < cut.parts.size(); ++i) {
      const bool last = i + 1 == cut.parts.size();
      passes_->accumulate({cut.parts[i], 1, stream_of(i), again, last ? step.ready : not_yet});
    }
    return loss;
  }

  std::unique_ptr<Passes> passes_;
  text::Windows windows_;
  std::size_t most_tokens_;
};

}  // namespace seqtrain::model
