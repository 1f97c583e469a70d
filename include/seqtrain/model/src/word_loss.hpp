#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/log_sum_exp.hpp>
#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/packed_factor.hpp>
#include <seqtrain/model/cpu/word_loss.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {
namespace detail {

/// A decoder that computes logits for the words of a vocabulary: x weight^T + bias.
template <class Number>
struct WordDecoder {
  Number* weight;  ///< [vocabulary, in]
  Number* bias;    ///< [vocabulary]
};

/// Computes the mean cross-entropy of a decoder's words. It computes logits for 512 inputs at a
/// time, so the logits of all words are never in memory together. T is the type of the products'
/// factors.
template <class T>
class WordLossPass {
 public:
  /// The decoder's inputs and the words that follow them.
  struct Inputs {
    const float* x;              ///< [words, in]
    const std::int64_t* labels;  ///< [words]
    std::size_t words, in, vocabulary;
  };

  /// The places for the gradients.
  struct Gradients {
    float* x = nullptr;                            ///< [words, in]; not computed if null
    WordDecoder<float> decoder{nullptr, nullptr};  ///< is added to; not computed if null
    [[nodiscard]] bool any() const { return x != nullptr || decoder.weight != nullptr; }
  };

  /// Returns the loss and computes the gradients for which `to` has places.
  double operator()(const Inputs& inputs, const WordDecoder<const float>& decoder,
                    const Gradients& to) {
    using For = typename PackedFactor<T>::For;
    inputs_ = inputs;
    const std::size_t panels = (inputs.vocabulary + panel - 1) / panel;
    groups_ = (panels + group / panel - 1) / (group / panel);
    decoder_.pack(groups_ * group / panel, inputs.in, to.x == nullptr ? For::forward : For::both,
                  [&](std::size_t index, std::size_t i) {
                    const std::size_t word = index * panel + i;
                    return word < inputs.vocabulary ? decoder.weight + word * inputs.in : nullptr;
                  });
    bias_.assign(groups_ * group, no_word);
    std::copy_n(decoder.bias, inputs.vocabulary, bias_.begin());
    scratch_.resize(tensor::workers());
    double sum = 0;
    for (first_ = 0; first_ < inputs.words; first_ += most) {
      count_ = std::min(most, inputs.words - first_);
      sum += loss_of_chunk();
      if (to.any()) gradients_of_chunk(to);
    }
    return sum / static_cast<double>(inputs.words);
  }

 private:
  static constexpr std::size_t most = 512;   // inputs at a time
  static constexpr std::size_t group = 256;  // words of a task
  static constexpr std::size_t rows_of_task = 128;
  static constexpr float no_word = -1e30F;

  struct Scratch {
    Buffer<float> block;
    Buffer<T> transposed;
  };

  [[nodiscard]] std::size_t padded() const { return round_up(count_, padded_to); }
  [[nodiscard]] std::size_t ld() const { return round_up(inputs_.in, padded_to); }
  [[nodiscard]] float* logits(std::size_t index) const {
    return logits_.data() + index * padded() * group;
  }
  /// Returns the gradients of the logits, which overwrite the logits.
  [[nodiscard]] T* d_logits(std::size_t index) const { return reinterpret_cast<T*>(logits(index)); }
  [[nodiscard]] std::size_t label(std::size_t row) const {
    return static_cast<std::size_t>(inputs_.labels[first_ + row]);
  }

  double loss_of_chunk() {
    T* const x = x_.reserve(padded() * ld());
    for (std::size_t row = 0; row < padded(); ++row) {
      const std::size_t exists = row < count_ ? inputs_.in : 0;
      copy_padded(inputs_.x + (first_ + row) * inputs_.in, exists, ld(), x + row * ld());
    }
    logits_.reserve(groups_ * padded() * group);
    sums_.resize(groups_ * padded());
    tensor::for_each_task(groups_, [&](std::size_t index, std::size_t) {
      const TileGuard tiles;
      for (std::size_t column = 0; column < group; column += panel) {
        multiply_panel(padded(), decoder_.depth(), x, ld(),
                       decoder_.forward((index * group + column) / panel), logits(index) + column,
                       group, false);
      }
      kernels::add_bias_and_sum(logits(index), group, bias_.data() + index * group, padded(), group,
                                sums_.data() + index * padded());
    });
    logs_.resize(padded());
    losses_.resize(padded());
    tensor::for_each_task(padded() / padded_to, [&](std::size_t index, std::size_t) {
      for (std::size_t i = 0; i < padded_to; ++i) join_sums(index * padded_to + i);
    });
    double sum = 0;
    for (std::size_t row = 0; row < count_; ++row) sum += static_cast<double>(losses_[row]);
    return sum;
  }

  /// Computes the logarithm of the sum of all words' exponentials, and the loss.
  void join_sums(std::size_t row) {
    float peak = sums_[row].peak, sum = 0;
    for (std::size_t i = 1; i < groups_; ++i) {
      peak = std::max(peak, sums_[i * padded() + row].peak);
    }
    for (std::size_t i = 0; i < groups_; ++i) {
      const auto& part = sums_[i * padded() + row];
      sum += part.sum * std::exp(part.peak - peak);
    }
    logs_[row] = peak + std::log(sum);
    if (row >= count_) return;
    losses_[row] = logs_[row] - logits(label(row) / group)[row * group + label(row) % group];
  }

  void gradients_of_chunk(const Gradients& to) {
    const float factor = 1 / static_cast<float>(inputs_.words);
    if (to.decoder.weight != nullptr) packed_x_.pack(x_.data(), ld(), padded(), inputs_.in);
    tensor::for_each_task(groups_, [&](std::size_t index, std::size_t worker) {
      T* const gradient = d_logits(index);
      kernels::scaled_probabilities(logits(index), group, logs_.data(), factor, count_, group,
                                    gradient);
      std::fill_n(gradient + count_ * group, (padded() - count_) * group, T{});
      for (std::size_t row = 0; row < count_; ++row) {
        if (label(row) / group != index) continue;
        gradient[row * group + label(row) % group] =
            kernels::from_float<T>((std::exp(-losses_[row]) - 1) * factor);
      }
      if (to.decoder.weight != nullptr) add_decoder(index, scratch_[worker], to.decoder);
    });
    if (to.x == nullptr) return;
    tensor::for_each_task((padded() + rows_of_task - 1) / rows_of_task,
                          [&](std::size_t index, std::size_t worker) {
                            d_inputs(index * rows_of_task, scratch_[worker], to.x);
                          });
  }

  void add_decoder(std::size_t index, Scratch& scratch, const WordDecoder<float>& to) const {
    const TileGuard tiles;
    T* const transposed = scratch.transposed.reserve(padded() * panel);
    float* const block = scratch.block.reserve(panel * panel);
    const ColumnPanels& inputs = packed_x_.inputs();
    for (std::size_t column = 0; column < group; column += panel) {
      const std::size_t word = index * group + column;
      if (word >= inputs_.vocabulary) return;
      const std::size_t words = std::min(panel, inputs_.vocabulary - word);
      float sums[panel] = {};
      packed_x_.transpose(d_logits(index) + column, group, transposed, sums);
      for (std::size_t i = 0; i < words; ++i) to.bias[word + i] += sums[i];
      for (std::size_t i = 0; i < inputs.count(); ++i) {
        packed_x_.multiply(transposed, i, block);
        add_block(block, words, inputs.existing(i), to.weight + word * inputs_.in + i * panel);
      }
    }
  }

  /// Adds a block, rows 64 apart, to a part of the weights' gradient.
  void add_block(const float* block, std::size_t rows, std::size_t columns, float* to) const {
    const std::size_t whole = columns / kernels::lanes * kernels::lanes;
    kernels::add(block, panel, to, inputs_.in, rows, whole);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = whole; i < columns; ++i)
        to[row * inputs_.in + i] += block[row * panel + i];
    }
  }

  void d_inputs(std::size_t row, Scratch& scratch, float* d_x) const {
    const TileGuard tiles;
    const std::size_t rows = std::min(rows_of_task, padded() - row);
    const ColumnPanels& inputs = decoder_.inputs();
    float* const block = scratch.block.reserve(inputs.count() * rows_of_task * panel);
    for (std::size_t index = 0; index < groups_; ++index) {
      for (std::size_t i = 0; i < inputs.count(); ++i) {
        const std::size_t columns = inputs.columns(i);
        multiply_panel(rows, group, d_logits(index) + row * group, group,
                       decoder_.backward(i) + index * group * columns,
                       block + i * rows_of_task * panel, panel, index > 0, columns);
      }
    }
    for (std::size_t k = row; k < std::min(row + rows, count_); ++k) {
      for (std::size_t i = 0; i < inputs.count(); ++i) {
        std::copy_n(block + (i * rows_of_task + k - row) * panel, inputs.existing(i),
                    d_x + (first_ + k) * inputs_.in + i * panel);
      }
    }
  }

  Inputs inputs_{};
  std::size_t groups_ = 0;
  std::size_t first_ = 0, count_ = 0;  // inputs of the chunk
  PackedFactor<T> decoder_;
  PackedInputs<T> packed_x_;
  std::vector<float> bias_;
  Buffer<T> x_;                           // [padded, ld]
  Buffer<float> logits_;                  // [groups, padded, group]
  std::vector<kernels::ScaledSum> sums_;  // [groups, padded]
  std::vector<float> logs_, losses_;      // [padded]
  std::vector<Scratch> scratch_;
};

/// Computes the gradients together with the loss, while the logits are in memory.
template <class T>
struct WordLossFunction : torch::autograd::Function<WordLossFunction<T>> {
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static at::Tensor forward(Context* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias, std::span<const std::int64_t> labels,
                            bool training, WordLossPass<T>* pass) {
    const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    const auto options = weight.options().requires_grad(false);
    const at::Tensor values = x.contiguous();
    at::Tensor d_x, d_weight, d_bias;
    typename WordLossPass<T>::Gradients to;
    if (training && x.requires_grad()) {
      d_x = at::empty(x.sizes(), options);
      to.x = d_x.mutable_data_ptr<float>();
    }
    if (training && (weight.requires_grad() || bias.requires_grad())) {
      d_weight = at::zeros(weight.sizes(), options);
      d_bias = at::zeros(bias.sizes(), options);
      to.decoder = {d_weight.mutable_data_ptr<float>(), d_bias.mutable_data_ptr<float>()};
    }
    const double loss = (*pass)({values.const_data_ptr<float>(), labels.data(), size(x.size(0)),
                                 size(x.size(1)), size(weight.size(0))},
                                {weight.const_data_ptr<float>(), bias.const_data_ptr<float>()}, to);
    context->saved_data["x"] = d_x;
    context->saved_data["weight"] = d_weight;
    context->saved_data["bias"] = d_bias;
    return at::empty({}, options).fill_(loss);
  }

  static Tensors backward(Context* context, const Tensors& gradients) {
    const auto factor = gradients[0].item<float>();
    Tensors results(6);
    std::size_t i = 0;
    for (const char* const name : {"x", "weight", "bias"}) {
      at::Tensor gradient = context->saved_data[name].toTensor();
      results[i++] = !gradient.defined() || factor == 1 ? gradient : gradient.mul(factor);
    }
    return results;
  }
};

/// Products take factors of the type T.
template <class T>
class WordLossOf : public WordLoss {
 public:
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                        std::span<const std::int64_t> labels) override {
    return WordLossFunction<T>::apply(x, weight, bias, labels, at::GradMode::is_enabled(), &pass_);
  }

 private:
  WordLossPass<T> pass_;
};

}  // namespace detail

SEQTRAIN_SEPARATE std::unique_ptr<WordLoss> make_word_loss(Precision precision) {
  if (precision == Precision::bf16) return std::make_unique<detail::WordLossOf<Bf16>>();
  return std::make_unique<detail::WordLossOf<float>>();
}

}  // namespace seqtrain::model::cpu
