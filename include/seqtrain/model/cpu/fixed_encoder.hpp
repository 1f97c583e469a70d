#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/bf16_attention.hpp>
#include <seqtrain/kernels/int8.hpp>
#include <seqtrain/kernels/layer_norm.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/fixed_linear.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/tensor/parallel.hpp>

namespace seqtrain::model::cpu {

/// A layer of an encoder for predictions.
struct FixedLayer {
  FixedLayer(Layer<Bf16> layer, bool int8)
      : qkv{std::move(layer.qkv), int8},
        attention_output{std::move(layer.attention_output), int8},
        intermediate{std::move(layer.intermediate), int8},
        output{std::move(layer.output), int8},
        norm1{std::move(layer.norm1)},
        norm2{std::move(layer.norm2)},
        activation{layer.activation},
        heads{layer.heads} {}

  [[nodiscard]] std::array<FixedLinear*, 4> linears() {
    return {&qkv, &attention_output, &intermediate, &output};
  }
  [[nodiscard]] std::array<const FixedLinear*, 4> linears() const {
    return {&qkv, &attention_output, &intermediate, &output};
  }

  FixedLinear qkv, attention_output, intermediate, output;
  NormTensors norm1, norm2;
  ActivationKind activation;
  std::size_t heads;
};

/// BERT's and RoBERTa's encoder for predictions on the processor. Linear maps compute in int8 or
/// bf16, and everything else in fp32, from embeddings of words in bf16. The residual is kept in
/// fp32, the other matrices in bf16 or int8. Nothing is kept for a backward pass. A thread computes
/// a run of sequences through all layers; if there are fewer groups of sequences than threads, all
/// threads share each step of a run. The bits of a sequence's result do not depend on the other
/// sequences or on the number of threads.
class FixedEncoder {
 public:
  /// Tells whether it can compute an encoder of these parts.
  [[nodiscard]] static bool supports(const EncoderParts<Bf16>& parts) {
    const auto is_plain = [](const Layer<Bf16>& layer) {
      return !layer.norms_first && !layer.gated && !layer.rotary && layer.score_parts == 1 &&
             layer.reach == kernels::unlimited_reach;
    };
    return !parts.projection && parts.order.empty() && !parts.distances && !parts.vectors &&
           !parts.mean_pooling && std::ranges::all_of(parts.layers, is_plain);
  }

  FixedEncoder(EncoderParts<Bf16> parts, bool int8)
      : embeddings_{std::move(parts.embeddings)}, int8_{int8} {
    layers_.reserve(parts.layers.size());
    for (Layer<Bf16>& layer : parts.layers) layers_.emplace_back(std::move(layer), int8);
  }

  /// Returns how many linear maps compute in bf16.
  [[nodiscard]] std::size_t maps_in_bf16() const {
    std::size_t count = 0;
    for (const FixedLayer& layer : layers_) {
      for (const FixedLinear* const linear : layer.linears()) count += linear->int8() ? 0 : 1;
    }
    return count;
  }

  /// Packs the weights of linear maps, rounds the embeddings of words to bfloat16, and lets go of
  /// the tensors of both. Decides which maps compute in int8. Call it once, before `forward`.
  void keep_packed_only() {
    embeddings_.round_words();
    if (int8_) keep_outliers_in_bf16();
    cpu::keep_packed_only<FixedLinear>(all_linears());
  }

  /// Returns the first tokens' hidden states [rows, hidden], in fp32.
  at::Tensor forward(const data::Batch& batch) {
    const TileGuard tiles;
    const Layout layout{batch, 1};
    const std::size_t workers = tensor::workers();
    const bool shared = losses_ || layout.groups().size() < workers;
    const auto runs = layout.runs(shared ? 1 : workers);
    const auto ids = embeddings_.ids(batch, layout);
    at::Tensor result = at::empty({batch.rows, static_cast<std::int64_t>(hidden())}, at::kFloat);
    float* const to = result.mutable_data_ptr<float>();
    reserve(layout, runs, shared ? 1 : workers, workers);
    const auto pass = [&](const Layout::Run& run, std::optional<std::size_t> worker) {
      const std::size_t first = layout.groups()[run.first].first;
      const std::size_t end = layout.groups()[run.end - 1].end;
      const std::span sequences{layout.sequences().data() + first, end - first};
      Pass{*this, rows_[worker.value_or(0)], sequences, run.row, worker}(
          ids.data() + run.row, run.rows, to + first * hidden());
    };
    if (shared) {
      for (const Layout::Run& run : runs) pass(run, {});
    } else {
      tensor::for_each_task(runs.size(),
                            [&](std::size_t i, std::size_t worker) { pass(runs[i], worker); });
    }
    return result;
  }

 private:
  /// A run's memory, row-major.
  struct Rows {
    float* x;                          ///< [rows, hidden], the residual
    Bf16* input;                       ///< [rows, hidden], the residual in bf16
    Bf16* qkv;                         ///< [rows, 3 hidden]
    Bf16* context;                     ///< [rows, hidden]
    Bf16* active;                      ///< [rows, inner]
    kernels::QuantizedRows quantized;  ///< [rows, hidden or inner]
  };

  /// Passes one run's rows through the layers: on one worker's thread, or on all threads if no
  /// worker is given.
  class Pass {
   public:
    Pass(const FixedEncoder& encoder, const Rows& rows, std::span<const Layout::Sequence> sequences,
         std::size_t first_row, std::optional<std::size_t> worker)
        : encoder_{encoder},
          rows_{rows},
          sequences_{sequences},
          first_row_{first_row},
          worker_{worker} {}

    /// Writes the first tokens' hidden states to `result` [sequences, hidden]; the last layer
    /// computes only these. In the probe all layers compute all tokens, because first tokens alone
    /// differ too little, and nothing is written.
    void operator()(const Embeddings::Ids* ids, std::size_t count, float* result) const {
      embed(ids, count);
      const bool measured = encoder_.losses_ != nullptr;
      const std::span layers{encoder_.layers_};
      for (const FixedLayer& layer : measured ? layers : layers.first(layers.size() - 1)) {
        project(layer, count, {0, 3 * hidden()});
        attend(layer);
        finish(layer, count);
      }
      if (measured) return;
      project(layers.back(), count, {hidden(), 3 * hidden()});
      keep_first_tokens();
      project_first_queries(layers.back());
      attend_first_tokens(layers.back());
      finish(layers.back(), sequences_.size());
      std::copy_n(rows_.x, sequences_.size() * hidden(), result);
    }

   private:
    static constexpr std::size_t rows_of_a_task = 16;

    [[nodiscard]] std::size_t hidden() const { return encoder_.hidden(); }
    [[nodiscard]] std::size_t inner() const { return encoder_.inner(); }
    [[nodiscard]] std::size_t row_of(const Layout::Sequence& sequence) const {
      return sequence.row - first_row_;
    }

    /// Calls task(index, worker) for each index below the count.
    template <class Task>
    void each(std::size_t count, const Task& task) const {
      if (!worker_) return tensor::for_each_task(count, task);
      for (std::size_t index = 0; index < count; ++index) task(index, *worker_);
    }

    /// Calls use(first row, number of rows) for each part of the rows.
    template <class Use>
    void each_part(std::size_t count, const Use& use) const {
      each((count + rows_of_a_task - 1) / rows_of_a_task, [&](std::size_t task, std::size_t) {
        const std::size_t row = task * rows_of_a_task;
        use(row, std::min(rows_of_a_task, count - row));
      });
    }

    void embed(const Embeddings::Ids* ids, std::size_t count) const {
      each_part(count, [&](std::size_t row, std::size_t part) {
        encoder_.embeddings_.add_up(ids + row, part, hidden(), rows_.x + row * hidden());
        normalize(encoder_.embeddings_.norm, row, part);
      });
    }

    void normalize(const NormTensors& norm, std::size_t row, std::size_t part) const {
      const std::size_t at = row * hidden();
      kernels::normalize(rows_.x + at, norm.weights(), rows_.input + at, part, hidden());
      quantize(rows_.input, row, part, hidden());
    }

    void quantize(const Bf16* values, std::size_t row, std::size_t part, std::size_t n) const {
      if (!encoder_.int8_) return;
      kernels::quantize_rows(values + row * n, part, n, rows_.quantized.from(row, n));
    }

    void quantize_all(const Bf16* values, std::size_t count, std::size_t n) const {
      if (!encoder_.int8_) return;
      each_part(count, [&](std::size_t row, std::size_t part) { quantize(values, row, part, n); });
    }

    /// Calls use(row, column, y) with each vector of these columns of a linear map.
    template <class Use>
    void apply(const FixedLinear& linear, const Bf16* values, std::size_t count, Columns columns,
               const Use& use) const {
      const LinearInput input{values, rows_.quantized};
      if (encoder_.losses_) {
        encoder_.losses_->emplace_back(
            &linear, kernels::quantization_loss(values, count, linear.in(), rows_.quantized));
      }
      const std::size_t first = columns.first / panel;
      each(columns.end / panel - first, [&](std::size_t task, std::size_t worker) {
        linear(input, count, first + task, encoder_.scratch_[worker].data(), use);
      });
    }

    void project(const FixedLayer& layer, std::size_t count, Columns columns) const {
      Bf16* const to = rows_.qkv;
      const std::size_t ld = 3 * hidden();
      apply(layer.qkv, rows_.input, count, columns,
            [=](std::size_t row, std::size_t column, const auto& y)
                SEQTRAIN_INLINE_LAMBDA { kernels::store(to + row * ld + column, y); });
    }

    /// Computes q of the first tokens, whose inputs are in consecutive rows.
    void project_first_queries(const FixedLayer& layer) const {
      Bf16* const to = rows_.qkv;
      const std::size_t ld = 3 * hidden();
      const std::size_t first_row = first_row_;
      const Layout::Sequence* const sequences = sequences_.data();
      apply(layer.qkv, rows_.input, sequences_.size(), {0, hidden()},
            [=](std::size_t row, std::size_t column, const auto& y) SEQTRAIN_INLINE_LAMBDA {
              kernels::store(to + (sequences[row].row - first_row) * ld + column, y);
            });
    }

    void attend(const FixedLayer& layer) const {
      each(sequences_.size() * layer.heads, [&](std::size_t task, std::size_t worker) {
        const Layout::Sequence& sequence = sequences_[task / layer.heads];
        attend(layer, sequence, task % layer.heads, sequence.length, row_of(sequence), worker);
      });
      quantize_all(rows_.context, rows_of_run(), hidden());
    }

    void attend_first_tokens(const FixedLayer& layer) const {
      each(sequences_.size() * layer.heads, [&](std::size_t task, std::size_t worker) {
        const std::size_t s = task / layer.heads;
        attend(layer, sequences_[s], task % layer.heads, 1, s, worker);
      });
      quantize_all(rows_.context, sequences_.size(), hidden());
    }

    [[nodiscard]] std::size_t rows_of_run() const {
      return row_of(sequences_.back()) + sequences_.back().length;
    }

    /// Computes a head's attention of a sequence, of which the first `queries` tokens attend. The
    /// results begin at row `to_row` of the context.
    void attend(const FixedLayer& layer, const Layout::Sequence& sequence, std::size_t head,
                std::size_t queries, std::size_t to_row, std::size_t worker) const {
      const std::size_t size = hidden() / layer.heads;
      const Bf16* const q = rows_.qkv + row_of(sequence) * 3 * hidden() + head * size;
      const kernels::Head<Bf16> view{.q = q,
                                     .k = q + hidden(),
                                     .v = q + 2 * hidden(),
                                     .ld = 3 * hidden(),
                                     .queries = queries,
                                     .length = sequence.length,
                                     .size = size,
                                     .dropout = {},
                                     .first = 0};
      kernels::attend_bf16(view, rows_.context + to_row * hidden() + head * size, hidden(),
                           {encoder_.scratch_[worker].data()});
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
    void finish(const FixedLayer& layer, std::size_t count) const {
      add_to_residual(layer.attention_output, rows_.context, count, layer.norm1);
      activate(layer, count);
      quantize_all(rows_.active, count, inner());
      add_to_residual(layer.output, rows_.active, count, layer.norm2);
    }

    void add_to_residual(const FixedLinear& linear, const Bf16* values, std::size_t count,
                         const NormTensors& norm) const {
      float* const x = rows_.x;
      const std::size_t n = hidden();
      apply(linear, values, count, {0, n},
            [=]<class Floats>(std::size_t row, std::size_t column, const Floats& y)
                SEQTRAIN_INLINE_LAMBDA {
                  Floats sum;
                  kernels::load(x + row * n + column, sum);
                  sum += y;
                  kernels::store(x + row * n + column, sum);
                });
      each_part(count, [&](std::size_t row, std::size_t part) { normalize(norm, row, part); });
    }

    void activate(const FixedLayer& layer, std::size_t count) const {
      switch (layer.activation) {
        case ActivationKind::gelu:
          return activate<kernels::QuickGelu>(layer, count);
        case ActivationKind::gelu_new:
          return activate<kernels::GeluNew>(layer, count);
        case ActivationKind::relu:
          return activate<kernels::Relu>(layer, count);
      }
    }

    template <class Act>
    void activate(const FixedLayer& layer, std::size_t count) const {
      Bf16* const to = rows_.active;
      const std::size_t n = inner();
      apply(layer.intermediate, rows_.input, count, {0, n},
            [=]<class Floats>(std::size_t row, std::size_t column, const Floats& y)
                SEQTRAIN_INLINE_LAMBDA {
                  Floats value, slope;
                  Act::at(y, value, slope);
                  kernels::store(to + row * n + column, value);
                });
    }

    const FixedEncoder& encoder_;
    const Rows& rows_;
    std::span<const Layout::Sequence> sequences_;
    std::size_t first_row_;
    std::optional<std::size_t> worker_;
  };

  [[nodiscard]] std::size_t hidden() const { return layers_.front().attention_output.out(); }
  [[nodiscard]] std::size_t inner() const { return layers_.front().intermediate.out(); }

  /// Int8 keeps little of a token's numbers if one of them is far larger than the others, as in
  /// some channels of some models. A probe finds the linear maps that read such numbers: ids from
  /// all over the vocabulary pass through the encoder, and a map whose input loses more than
  /// `largest_loss` by quantization (see `kernels::quantization_loss`) computes in bf16 from then
  /// on.
  void keep_outliers_in_bf16() {
    constexpr double largest_loss = 0.1;
    std::vector<std::pair<const FixedLinear*, double>> losses;
    pack_weights<FixedLinear>(all_linears(), false);
    losses_ = &losses;
    (void)forward(embeddings_.probe());
    losses_ = nullptr;
    for (FixedLinear* const linear : all_linears()) {
      const bool loses = std::ranges::any_of(losses, [&](const auto& loss) {
        return loss.first == linear && loss.second > largest_loss;
      });
      if (loses) linear->keep_in_bf16();
    }
  }

  [[nodiscard]] std::vector<FixedLinear*> all_linears() {
    std::vector<FixedLinear*> result;
    for (FixedLayer& layer : layers_) {
      for (FixedLinear* const linear : layer.linears()) result.push_back(linear);
    }
    return result;
  }

  /// Reserves memory for `at_once` runs and for the threads.
  void reserve(const Layout& layout, const std::vector<Layout::Run>& runs, std::size_t at_once,
               std::size_t workers) {
    const std::size_t rows = std::ranges::max_element(runs, {}, &Layout::Run::rows)->rows;
    memory_.resize(std::max(memory_.size(), at_once));
    rows_.clear();
    for (std::size_t i = 0; i < at_once; ++i) rows_.push_back(rows_in(memory_[i], rows));
    const std::size_t attention =
        kernels::AttentionScratch::floats(layout.longest(), hidden() / layers_.front().heads);
    scratch_.resize(workers);
    for (auto& scratch : scratch_) scratch.reserve(std::max(attention, rows * panel));
  }

  struct Memory {
    Buffer<float> floats;
    Buffer<Bf16> halves;
    Buffer<std::uint8_t> bytes;
  };

  [[nodiscard]] Rows rows_in(Memory& memory, std::size_t rows) const {
    float* const floats = memory.floats.reserve(rows * (hidden() + 1));
    Bf16* const halves = memory.halves.reserve(rows * (5 * hidden() + inner()));
    Bf16* const active = halves + 5 * rows * hidden();
    std::uint8_t* const bytes =
        int8_ ? memory.bytes.reserve(rows * std::max(hidden(), inner())) : nullptr;
    return {.x = floats,
            .input = halves,
            .qkv = halves + rows * hidden(),
            .context = halves + 4 * rows * hidden(),
            .active = active,
            .quantized = {bytes, floats + rows * hidden()}};
  }

  Embeddings embeddings_;
  std::vector<FixedLayer> layers_;
  bool int8_;
  std::vector<std::pair<const FixedLinear*, double>>* losses_ = nullptr;  // of the probe's inputs
  std::vector<Memory> memory_;
  std::vector<Rows> rows_;
  std::vector<Buffer<float>> scratch_;  // one for each thread
};

}  // namespace seqtrain::model::cpu
