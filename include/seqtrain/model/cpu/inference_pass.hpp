#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/bf16_attention.hpp>
#include <seqtrain/kernels/int8.hpp>
#include <seqtrain/kernels/layer_norm.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/inference_linear.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/pooling.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// Passes one run's rows through the layers: on one worker's thread, or on all threads if no
/// worker is given.
class InferencePass {
 public:
  static constexpr std::size_t rows_of_a_task = 16;

  /// `adapters` has the number of each sequence's adapter, or nothing if there are none.
  InferencePass(const InferenceParts& parts, const InferenceRows& rows,
                std::span<const Layout::Sequence> sequences, std::span<const std::int32_t> adapters,
                std::size_t first_row, std::optional<std::size_t> worker)
      : parts_{parts}, rows_{rows}, sequences_{sequences}, first_row_{first_row}, worker_{worker} {
    for (std::size_t s = 0; s < adapters.size(); ++s) {
      const auto adapter = static_cast<std::size_t>(adapters[s]);
      if (adapted_firsts_.empty() || adapted_firsts_.back().adapter != adapter) {
        adapted_.push_back({adapter, row_of(sequences[s]), 0});
        adapted_firsts_.push_back({adapter, s, 0});
      }
      adapted_.back().count += sequences[s].length;
      adapted_firsts_.back().count += 1;
    }
  }

  /// Writes the pooled hidden states to `result` [sequences, hidden]. If these are first tokens',
  /// the last layer computes no others. Without pooling it writes those of all tokens, [sequences,
  /// width, hidden]. `size` is the number of floats of a sequence. A probe computes all, and
  /// nothing is written.
  void operator()(const Embeddings::Ids* ids, std::size_t count, float* result,
                  std::size_t size) const {
    embed(ids, count);
    if (parts_.convolution) gather();
    const bool measured = parts_.losses != nullptr;
    const bool all = measured || parts_.pooling != Pooling::first_token;
    const std::vector<std::size_t>& order = parts_.order;
    const InferenceLayer& last = parts_.layers[order.back()];
    for (std::size_t step = 0; step + (all ? 0 : 1) < order.size(); ++step) {
      const InferenceLayer& layer = parts_.layers[order[step]];
      project(layer, count, {0, 3 * hidden()});
      attend(layer, count, false);
      finish(layer, count, step + 1 == order.size());
      if (step == 0 && parts_.convolution) convolve(count);
    }
    if (measured) return;
    if (all) return pool_all(result, size);
    project(last, count, {hidden(), 3 * hidden()});
    keep_first_tokens();
    project_first_queries(last);
    attend(last, sequences_.size(), true);
    finish(last, sequences_.size(), true);
    std::copy_n(rows_.x, sequences_.size() * hidden(), result);
  }

 private:
  [[nodiscard]] std::size_t hidden() const { return parts_.hidden(); }
  [[nodiscard]] std::size_t inner() const { return parts_.inner(); }
  [[nodiscard]] std::size_t row_of(const Layout::Sequence& sequence) const {
    return sequence.row - first_row_;
  }

  /// Calls task(index, worker) for each index below the count.
  template <class Task>
  void each(std::size_t count, const Task& task) const {
    if (!worker_) return tensor::for_each_task(count, task);
    for (std::size_t index = 0; index < count; ++index) task(index, *worker_);
  }

  /// Calls use(first row, number of rows, worker) for each part of the rows.
  template <class Use>
  void each_part(std::size_t count, const Use& use) const {
    each((count + rows_of_a_task - 1) / rows_of_a_task, [&](std::size_t task, std::size_t worker) {
      const std::size_t row = task * rows_of_a_task;
      use(row, std::min(rows_of_a_task, count - row), worker);
    });
  }

  void embed(const Embeddings::Ids* ids, std::size_t count) const {
    const Embeddings& embeddings = parts_.embeddings;
    const std::size_t n = embeddings.size();
    Bf16* const embedded = parts_.projection ? rows_.active : rows_.input;
    const bool is_read = parts_.projection || !embeddings.first_norm;
    each_part(count, [&](std::size_t row, std::size_t part, std::size_t) {
      float* const x = rows_.x + row * n;
      embeddings.add_up(ids + row, part, n, x);
      if (embeddings.norm) {
        kernels::normalize(x, embeddings.norm->weights(), x, embedded + row * n, part, n);
      } else if (is_read) {
        kernels::convert(x, n, embedded + row * n, n, part, n);
      }
      if (is_read) quantize(embedded, row, part, n);
    });
    if (parts_.projection) project_embeddings(embedded, count);
    if (embeddings.first_norm) normalize(*embeddings.first_norm, count, true);
  }

  void project_embeddings(const Bf16* embedded, std::size_t count) const {
    float* const x = rows_.x;
    Bf16* const input = rows_.input;
    const std::size_t ld = hidden();
    apply(*parts_.projection, embedded, count, {0, ld},
          [=](std::size_t row, std::size_t column, const auto& y) SEQTRAIN_INLINE_LAMBDA {
            kernels::store(x + row * ld + column, y);
            kernels::store(input + row * ld + column, y);
          });
    quantize_all(input, count, ld);
  }

  /// Keeps each token's neighbours for the convolution, before the first layer.
  void gather() const {
    each(sequences_.size(), [&](std::size_t s, std::size_t) {
      const std::size_t row = row_of(sequences_[s]);
      parts_.convolution->gather(rows_.input + row * hidden(), sequences_[s].length,
                                 rows_.near + row * parts_.near());
    });
  }

  void convolve(std::size_t count) const {
    const auto& convolution = *parts_.convolution;
    quantize_all(rows_.near, count, parts_.near());
    with_kernel<kernels::QuickGelu>(convolution.activation, [&]<class Act>(Act) {
      add_to_residual<Act>(convolution.map, rows_.near, count, convolution.norm, false);
    });
  }

  void quantize(const Bf16* values, std::size_t row, std::size_t part, std::size_t n) const {
    if (!parts_.int8) return;
    kernels::quantize_rows(values + row * n, part, n, rows_.quantized.from(row, n));
  }

  void quantize_all(const Bf16* values, std::size_t count, std::size_t n) const {
    if (!parts_.int8) return;
    each_part(count, [&](std::size_t row, std::size_t part, std::size_t) {
      quantize(values, row, part, n);
    });
  }

  /// Calls use(row, column, y) with each vector of these columns of a linear layer.
  template <class Use>
  void apply(const InferenceLinear& linear, const Bf16* values, std::size_t count, Columns columns,
             const Use& use) const {
    // If there are as many rows as sequences, each is a first token.
    const LinearInput input{values, rows_.quantized,
                            count == sequences_.size() ? adapted_firsts_ : adapted_, rows_.reduced};
    each(input.adapted.size(), [&](std::size_t task, std::size_t worker) {
      linear.reduce(input, input.adapted[task], parts_.scratch[worker].data());
    });
    if (parts_.losses) {
      parts_.losses->emplace_back(
          &linear, kernels::quantization_loss(values, count, linear.in(), rows_.quantized));
    }
    const std::size_t first = columns.first / panel;
    each(columns.end / panel - first, [&](std::size_t task, std::size_t worker) {
      linear(input, count, first + task, parts_.scratch[worker].data(), use);
    });
  }

  void project(const InferenceLayer& layer, std::size_t count, Columns columns) const {
    Bf16* const to = rows_.qkv;
    const std::size_t ld = 3 * hidden();
    apply(layer.qkv, rows_.input, count, columns,
          [=](std::size_t row, std::size_t column, const auto& y)
              SEQTRAIN_INLINE_LAMBDA { kernels::store(to + row * ld + column, y); });
  }

  /// Computes q of the first tokens, whose inputs are in consecutive rows.
  void project_first_queries(const InferenceLayer& layer) const {
    Bf16* const to = rows_.qkv;
    const std::size_t ld = 3 * hidden();
    const std::size_t first_row = first_row_;
    const Layout::Sequence* const sequences = sequences_.data();
    apply(layer.qkv, rows_.input, sequences_.size(), {0, hidden()},
          [=](std::size_t row, std::size_t column, const auto& y) SEQTRAIN_INLINE_LAMBDA {
            kernels::store(to + (sequences[row].row - first_row) * ld + column, y);
          });
  }

  /// Computes `count` rows of attention's results: those of all tokens, or of first tokens.
  void attend(const InferenceLayer& layer, std::size_t count, bool first_only) const {
    each(sequences_.size() * layer.heads, [&](std::size_t task, std::size_t worker) {
      const std::size_t s = task / layer.heads, head = task % layer.heads;
      const Layout::Sequence& sequence = sequences_[s];
      if (first_only) return attend(layer, sequence, head, 1, s, worker);
      attend(layer, sequence, head, sequence.length, row_of(sequence), worker);
    });
    quantize_all(rows_.context, count, hidden());
  }

  /// Writes the mean of each sequence's hidden states, or all of them.
  void pool_all(float* result, std::size_t size) const {
    each(sequences_.size(), [&](std::size_t s, std::size_t) {
      const float* const states = rows_.x + row_of(sequences_[s]) * hidden();
      float* const to = result + s * size;
      const std::size_t length = sequences_[s].length;
      if (parts_.pooling == Pooling::mean) return pool(states, length, hidden(), to);
      pad(states, length, hidden(), size / hidden(), to);
    });
  }

  /// Computes a head's attention of a sequence, of which the first `queries` tokens attend. The
  /// results begin at row `to_row` of the context.
  void attend(const InferenceLayer& layer, const Layout::Sequence& sequence, std::size_t head,
              std::size_t queries, std::size_t to_row, std::size_t worker) const {
    const std::size_t size = hidden() / layer.heads, ld = 3 * hidden();
    Bf16* const q = rows_.qkv + row_of(sequence) * ld + head * size;
    if (layer.rotary) {
      layer.rotary->rotate(q, ld, queries, 1, 1);
      layer.rotary->rotate(q + hidden(), ld, sequence.length, 1, 1);
    }
    kernels::attend_bf16(parts_.view(layer, head, q, queries, sequence.length),
                         rows_.context + to_row * hidden() + head * size, hidden(),
                         {parts_.scratch[worker].data()});
  }

  /// Moves the rows of the first tokens to the front.
  void keep_first_tokens() const {
    for (std::size_t s = 0; s < sequences_.size(); ++s) {
      const std::size_t from = row_of(sequences_[s]) * hidden();
      std::copy_n(rows_.x + from, hidden(), rows_.x + s * hidden());
      std::copy_n(rows_.input + from, hidden(), rows_.input + s * hidden());
    }
    quantize_all(rows_.input, sequences_.size(), hidden());
  }

  /// Computes the part of the layer after attention.
  void finish(const InferenceLayer& layer, std::size_t count, bool is_last) const {
    add_to_residual(layer.attention_output, rows_.context, count, layer.norm1, layer.pre_norm);
    with_kernel<kernels::QuickGelu>(layer.activation,
                                    [&]<class Act>(Act) { activate<Act>(layer, count); });
    quantize_all(rows_.active, count, inner());
    add_to_residual(layer.output, rows_.active, count, layer.norm2, layer.pre_norm && !is_last);
  }

  /// Adds the result of a linear layer to the residual and normalizes the sum for the next linear
  /// layer. The residual becomes the normalized sum unless it `stays`.
  template <class Act = kernels::Identity>
  void add_to_residual(const InferenceLinear& linear, const Bf16* values, std::size_t count,
                       const NormTensors& norm, bool stays) const {
    float* const x = rows_.x;
    const std::size_t n = hidden();
    apply(linear, values, count, {0, n},
          [=]<class Floats>(std::size_t row, std::size_t column, const Floats& y)
              SEQTRAIN_INLINE_LAMBDA {
                Floats sum, value, slope;
                Act::at(y, value, slope);
                kernels::load(x + row * n + column, sum);
                kernels::store(x + row * n + column, sum + value);
              });
    normalize(norm, count, stays);
  }

  /// Normalizes the residual for the next linear layer. The residual becomes the result unless it
  /// `stays`.
  void normalize(const NormTensors& norm, std::size_t count, bool stays) const {
    const std::size_t n = hidden();
    each_part(count, [&](std::size_t row, std::size_t part, std::size_t worker) {
      float* const x = rows_.x + row * n;
      float* const y = stays ? parts_.scratch[worker].data() : x;
      kernels::normalize(x, norm.weights(), y, rows_.input + row * n, part, n);
      quantize(rows_.input, row, part, n);
    });
  }

  template <class Act>
  void activate(const InferenceLayer& layer, std::size_t count) const {
    Bf16* const to = rows_.active;
    const std::size_t n = inner();
    const std::size_t arguments = layer.activates_second ? n : 0;
    const std::size_t gates = layer.activates_second ? 0 : n;
    apply(layer.intermediate, rows_.input, count, {arguments, arguments + n},
          [=]<class Floats>(std::size_t row, std::size_t column, const Floats& y)
              SEQTRAIN_INLINE_LAMBDA {
                Floats value, slope;
                Act::at(y, value, slope);
                kernels::store(to + row * n + column - arguments, value);
              });
    if (!layer.gated) return;
    apply(layer.intermediate, rows_.input, count, {gates, gates + n},
          [=]<class Floats>(std::size_t row, std::size_t column, const Floats& gate)
              SEQTRAIN_INLINE_LAMBDA {
                Floats value;
                Bf16* const place = to + row * n + column - gates;
                kernels::load(place, value);
                kernels::store(place, value * gate);
              });
  }

  const InferenceParts& parts_;
  const InferenceRows& rows_;
  std::span<const Layout::Sequence> sequences_;
  std::vector<AdaptedRows> adapted_;         // the rows of tokens
  std::vector<AdaptedRows> adapted_firsts_;  // the rows of first tokens
  std::size_t first_row_;
  std::optional<std::size_t> worker_;
};

}  // namespace seqtrain::model::cpu
