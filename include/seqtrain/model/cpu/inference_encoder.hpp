#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/inference_linear.hpp>
#include <seqtrain/model/cpu/inference_pass.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/pooling.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// An encoder for predictions on the processor. Linear layers compute in int8 or bf16, products of
/// attention in bf16, and everything else in fp32, from embeddings of words in bf16. The residual
/// is kept in fp32, the other matrices in bf16 or int8. Nothing is kept for a backward pass. A
/// thread computes a run of sequences through all layers; if there are fewer groups of sequences
/// than threads, all threads share each step of a run. The bits of a sequence's result do not
/// depend on the other sequences or on the number of threads.
class InferenceEncoder {
 public:
  InferenceEncoder(EncoderParts<Bf16> parts, bool int8)
      : parts_{.embeddings = std::move(parts.embeddings),
               .projection = {},
               .convolution = {},
               .layers = {},
               .order = steps(parts.order, parts.layers.size()),
               .distances = std::move(parts.distances),
               .vectors = parts.take_vectors(),
               .pooling = parts.pooling,
               .int8 = int8} {
    if (parts.projection) parts_.projection.emplace(*std::move(parts.projection), int8);
    if (auto& of = parts.convolution) {
      parts_.convolution = {{std::move(of->map), int8}, std::move(of->norm), of->activation};
    }
    for (Layer<Bf16>& layer : parts.layers) parts_.layers.emplace_back(std::move(layer), int8);
  }

  /// Returns how many of the linear layers that can compute in int8 compute in bf16.
  [[nodiscard]] std::size_t maps_in_bf16() {
    return static_cast<std::size_t>(std::ranges::count_if(
        parts_.all_linears(), [](const InferenceLinear* linear) { return !linear->int8(); }));
  }

  /// Packs the weights of linear layers, rounds the embeddings of words to bfloat16, and frees the
  /// tensors of both. Decides which linear layers compute in int8. Call it once, before `forward`.
  void keep_packed_only() {
    parts_.embeddings.round_words();
    if (parts_.vectors) {
      for (PackedLinear<Bf16>& map : parts_.vectors->maps()) {
        PackedLinear<Bf16>* const one = &map;
        cpu::keep_packed_only<PackedLinear<Bf16>>({&one, 1});
      }
    }
    if (parts_.int8) keep_outliers_in_bf16();
    cpu::keep_packed_only<InferenceLinear>(parts_.all_linears());
  }

  /// Takes the adapter of another encoder of the same form, which rows of batches have by the next
  /// number from 1 on. Returns false if there are vectors of distances, which are the same for all
  /// rows. Throws `InputError` if the other encoder has more layers or fewer.
  [[nodiscard]] bool take_adapter(InferenceEncoder& other) {
    if (parts_.vectors) return false;
    const auto own = parts_.all_linears(), adapted = other.parts_.all_linears();
    if (own.size() != adapted.size()) {
      throw InputError{"is for a base of another form", {.object = "adapter"}};
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i]->take_adapter(*adapted[i]);
      reduced_columns_ = std::max(reduced_columns_, own[i]->reduced_columns());
    }
    return true;
  }

  /// Returns the pooled hidden states [rows, hidden], in fp32, or without pooling those of all
  /// tokens, [rows, width, hidden], with 0 for padding.
  at::Tensor forward(const data::Batch& batch) {
    const TileGuard tiles;
    const Layout layout{batch, 1};
    const std::size_t workers = tensor::workers();
    const bool shared = parts_.losses || layout.groups().size() < workers;
    const auto runs = layout.runs(shared ? 1 : workers);
    const auto ids = parts_.embeddings.ids(batch, layout);
    at::Tensor result = empty_result(batch, parts_.pooling, parts_.hidden());
    const auto size = static_cast<std::size_t>(result.stride(0));
    float* const to = result.mutable_data_ptr<float>();
    reserve(layout, runs, shared ? 1 : workers, workers);
    compare_distances(layout.longest());
    const auto pass = [&](const Layout::Run& run, std::optional<std::size_t> worker) {
      const std::size_t first = layout.groups()[run.first].first;
      const std::size_t end = layout.groups()[run.end - 1].end;
      const std::span sequences{layout.sequences().data() + first, end - first};
      const std::span adapters{batch.adapters};
      InferencePass{parts_,    rows_[worker.value_or(0)],
                    sequences, adapters.empty() ? adapters : adapters.subspan(first, end - first),
                    run.row,   worker}(ids.data() + run.row, run.rows, to + first * size, size);
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
  /// Int8 keeps little of a token's numbers if one of them is far larger than the others, as in
  /// some channels of some models. A probe finds the linear layers that read such numbers: ids from
  /// all over the vocabulary pass through the encoder, and a linear layer whose input loses more
  /// than `largest_loss` by quantization (see `kernels::quantization_loss`) computes in bf16 from
  /// then on.
  void keep_outliers_in_bf16() {
    constexpr double largest_loss = 0.1;
    std::vector<std::pair<const InferenceLinear*, double>> losses;
    pack_weights<InferenceLinear>(parts_.all_linears(), false);
    parts_.losses = &losses;
    (void)forward(parts_.embeddings.probe());
    parts_.losses = nullptr;
    for (InferenceLinear* const linear : parts_.all_linears()) {
      const bool loses = std::ranges::any_of(losses, [&](const auto& loss) {
        return loss.first == linear && !(loss.second <= largest_loss);
      });
      if (loses) linear->keep_in_bf16();
    }
  }

  /// Computes what attention adds to its scores by distance, for sequences of at most that length.
  void compare_distances(std::size_t longest) {
    if (longest <= longest_) return;
    longest_ = 0;  // the next lines may throw
    if (parts_.distances) parts_.distances->look_up(longest);
    if (parts_.vectors) {
      const std::size_t layers = parts_.layers.size();
      parts_.vectors->forward(longest, std::vector<kernels::HashDropout>(layers),
                              std::vector<std::uint64_t>(layers), false);
    }
    longest_ = longest;
  }

  /// Reserves memory for `at_once` runs and for the threads.
  void reserve(const Layout& layout, const std::vector<Layout::Run>& runs, std::size_t at_once,
               std::size_t workers) {
    const std::size_t rows = std::ranges::max_element(runs, {}, &Layout::Run::rows)->rows;
    memory_.resize(std::max(memory_.size(), at_once));
    rows_.clear();
    for (std::size_t i = 0; i < at_once; ++i) rows_.push_back(rows_in(memory_[i], rows));
    const std::size_t attention =
        prepare_attention(parts_.layers, layout.longest(), parts_.vectors.has_value());
    parts_.scratch.resize(workers);
    const std::size_t products = rows * std::max(2 * panel, reduced_columns_);
    const std::size_t norms = InferencePass::rows_of_a_task * parts_.hidden();
    for (auto& scratch : parts_.scratch) scratch.reserve(std::max({attention, products, norms}));
  }

  struct Memory {
    Buffer<float> floats;
    Buffer<Bf16> halves;
    Buffer<std::uint8_t> bytes;
  };

  [[nodiscard]] InferenceRows rows_in(Memory& memory, std::size_t rows) const {
    const std::size_t hidden = parts_.hidden(), embedded = parts_.embeddings.size();
    const std::size_t inner = std::max(parts_.inner(), embedded);
    const std::size_t wide = std::max(hidden, embedded);
    float* const floats = memory.floats.reserve(rows * (wide + 1));
    const std::size_t near = parts_.near(), widest = std::max({hidden, inner, near});
    Bf16* const halves =
        memory.halves.reserve(rows * (5 * hidden + inner + near + reduced_columns_));
    Bf16* const active = halves + 5 * rows * hidden;
    std::uint8_t* const bytes = parts_.int8 ? memory.bytes.reserve(rows * widest) : nullptr;
    return {.x = floats,
            .input = halves,
            .qkv = halves + rows * hidden,
            .context = halves + 4 * rows * hidden,
            .near = active + rows * inner,
            .active = active,
            .reduced = active + rows * (inner + near),
            .quantized = {bytes, floats + rows * wide}};
  }

  InferenceParts parts_;
  std::size_t reduced_columns_ = 0;  // the most that a linear layer's adapters need
  std::size_t longest_ = 0;          // the length for which distances have been compared
  std::vector<Memory> memory_;
  std::vector<InferenceRows> rows_;
};

}  // namespace seqtrain::model::cpu
