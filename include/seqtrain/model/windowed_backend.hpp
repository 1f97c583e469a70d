#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/backend.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/operators.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::model {

/// Returns the logits of a text [1, labels] from those of its windows [windows, labels].
[[nodiscard]] inline at::Tensor pool_windows(const at::Tensor& logits,
                                             text::WindowPooling pooling) {
  return pooling == text::WindowPooling::max ? logits.amax(0, true) : logits.mean(0, true);
}

/// Returns the number of the window that decided. `logits` [windows, labels] and `of_text`
/// [1, labels] are on the processor.
[[nodiscard]] inline std::size_t deciding_window(const at::Tensor& logits,
                                                 const at::Tensor& of_text) {
  const auto label = of_text.argmax().item<std::int64_t>();
  return static_cast<std::size_t>(logits.select(1, label).argmax(0).item<std::int64_t>());
}

/// Computes texts of any length by the passes of their windows. A text's logits are the mean of its
/// windows' logits or the largest, and it has one loss, whose gradient goes through the windows.
///
/// Many windows are computed in parts (Gao et al. 2021, gradient caching). A first forward pass
/// gives all logits and the gradient of the loss with respect to them. A second one computes each
/// part again, with the same dropout, and its backward pass begins with that gradient.
class WindowedBackend : public Backend {
 public:
  /// `most_tokens` limits the ids of a part, with padding.
  WindowedBackend(std::unique_ptr<Backend> backend, const text::Windows& windows,
                  std::size_t most_tokens)
      : backend_{std::move(backend)}, windows_{windows}, most_tokens_{most_tokens} {}

  at::Tensor accumulate(const StepInputs& step) override {
    const auto cut = cut_into_windows(step.batch);
    const auto loss_of = [&](const at::Tensor& logits) {
      return step.loss(of_texts(logits, cut.counts),
                       tensor::labels_on(step.batch, logits.device()));
    };
    if (cut.parts.size() > 1) return accumulate_parts(step, cut, loss_of);
    const LossOfLogits loss = [&](const at::Tensor& logits, const auto&) {
      return loss_of(logits);
    };
    return backend_->accumulate(
        {cut.parts.front(), step.weight, step.stream, loss, step.ready, step.loss_scale});
  }

  at::Tensor logits(const data::Batch& batch) override {
    const auto cut = cut_into_windows(batch);
    return of_texts(logits_of_windows(cut), cut.counts);
  }

  at::Tensor hidden(const data::Batch&) override {
    throw InputError{"reads texts in windows, and a text has no hidden states of its own",
                     {.object = "model"},
                     "leave out ClassifierOptions::windows"};
  }

  at::Tensor logits_by_window(const data::Batch& batch,
                              std::vector<text::DecidingWindow>& deciding) override {
    const auto cut = cut_into_windows(batch);
    const at::Tensor all = logits_of_windows(cut);
    at::Tensor texts = of_texts(all, cut.counts);
    const at::Tensor on_host = texts.cpu(), windows = all.cpu();
    deciding.clear();
    for (std::int64_t first = 0; const std::int64_t count : cut.counts) {
      const std::size_t index = deciding_window(windows.narrow(0, first, count),
                                                on_host.narrow(0, std::ssize(deciding), 1));
      deciding.push_back(cut.places[static_cast<std::size_t>(first) + index]);
      first += count;
    }
    return texts;
  }

 private:
  /// The windows of a batch's texts.
  struct Cut {
    std::vector<data::Batch> parts = {};    ///< their rows are windows, in the order of the texts
    std::vector<std::int64_t> counts = {};  ///< [texts], the number of windows of each text
    std::vector<text::DecidingWindow> places = {};  ///< [windows], the place of each
  };

  [[nodiscard]] at::Tensor logits_of_windows(const Cut& cut) {
    std::vector<at::Tensor> logits;
    for (const auto& part : cut.parts) logits.push_back(backend_->logits(part));
    return at::cat(logits);
  }

  [[nodiscard]] Cut cut_into_windows(const data::Batch& texts) const {
    Cut cut;
    std::vector<predict::Encoded> all;
    std::vector<std::int64_t> ids;
    for (std::size_t row = 0; row < texts.lengths.size(); ++row) {
      const auto* const first =
          texts.input_ids.data() + row * static_cast<std::size_t>(texts.width);
      const std::span text{first, static_cast<std::size_t>(texts.lengths[row])};
      const auto* const types =
          texts.token_type_ids.data() + row * static_cast<std::size_t>(texts.width);
      const auto second =
          std::find_if(types, types + text.size(), [](auto type) { return type != 0; });
      auto windows = text::windows_of(text, static_cast<std::size_t>(second - types), windows_);
      cut.counts.push_back(std::ssize(windows));
      for (std::size_t i = 0; i < windows.size(); ++i) {
        auto& window = windows[i];
        all.push_back({std::move(window.input_ids), window.first_segment});
        const auto id = static_cast<std::int64_t>(i);
        ids.push_back(texts.set == 0 ? id : texts.row_ids[row] << 24 | id);
        cut.places.push_back({i, windows.size(), window.of_second, window.begin, window.end});
      }
    }
    const auto width = std::min(windows_.length, static_cast<std::size_t>(texts.width));
    const std::size_t most = std::max<std::size_t>(1, most_tokens_ / width);
    for (std::size_t begin = 0; begin < all.size(); begin += most) {
      const std::size_t count = std::min(most, all.size() - begin);
      auto& part = cut.parts.emplace_back(
          predict::to_batch(std::span{all}.subspan(begin, count), windows_.pad_id));
      part.set = texts.set;
      part.row_ids.assign(ids.begin() + begin, ids.begin() + begin + count);
    }
    return cut;
  }

  /// Returns the logits of texts [texts, labels]. A text's bits do not depend on other texts.
  [[nodiscard]] at::Tensor of_texts(const at::Tensor& windows,
                                    std::span<const std::int64_t> counts) const {
    if (windows.size(0) == std::ssize(counts)) return windows;
    std::vector<at::Tensor> texts;
    std::int64_t first = 0;
    for (const std::int64_t count : counts) {
      const auto of_text = windows.narrow(0, std::exchange(first, first + count), count);
      texts.push_back(pool_windows(of_text, windows_.pooling));
    }
    return at::cat(texts);
  }

  template <class Loss>
  at::Tensor accumulate_parts(const StepInputs& step, const Cut& cut, const Loss& loss_of) {
    const std::function<void(std::size_t)> not_yet = [](std::size_t) {};
    const auto stream_of = [&](std::size_t part) {  // other numbers than the backend itself draws
      return random::Stream{step.stream.at((std::uint64_t{1} << 32) + part),
                            random::Purpose::dropout};
    };
    std::vector<at::Tensor> parts;
    const LossOfLogits keep = [&](const at::Tensor& logits, const auto&) {
      parts.push_back(logits.detach().clone());
      return at::Tensor{};
    };
    for (std::size_t i = 0; i < cut.parts.size(); ++i) {
      backend_->accumulate({cut.parts[i], 0, stream_of(i), keep, not_yet, step.loss_scale});
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
      backend_->accumulate(
          {cut.parts[i], 1, stream_of(i), again, last ? step.ready : not_yet, step.loss_scale});
    }
    return loss;
  }

  std::unique_ptr<Backend> backend_;
  text::Windows windows_;
  std::size_t most_tokens_;
};

}  // namespace seqtrain::model
