#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/kernels/layer_norm.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/norm_gradients.hpp>
#include <seqtrain/model/cpu/round_up.hpp>
#include <seqtrain/model/cpu/rows.hpp>
#include <seqtrain/model/cpu/scratch.hpp>
#include <seqtrain/model/cpu/weight_gradients.hpp>

namespace seqtrain::model::cpu {

/// The parts of an encoder and its dropout rates.
template <class T>
struct EncoderParts {
  Embeddings embeddings;
  std::vector<Layer<T>> layers;
  double hidden_dropout = 0;
  double attention_dropout = 0;
  bool drops_attention_output = true;  ///< by hidden_dropout, as it does the other outputs
};

/// BERT's and RoBERTa's encoder with both passes written out, for the processor: products in T
/// (float or bfloat16), all else in float. Tokens lie without padding; a thread takes a run of
/// sequences through all layers and back, and then the threads share the weights' gradients. Of the
/// last layer only what the first tokens need is computed. The results are the same at any number
/// of threads. A pass without dropout keeps nothing: each thread uses its own memory again for
/// every run and every layer.
template <class T>
class Encoder {
 public:
  explicit Encoder(EncoderParts<T> parts) : parts_{std::move(parts)} {}

  /// The first tokens' hidden states [rows, hidden], in fp32. With a stream there is dropout, and
  /// `backward` may follow; without, neither.
  at::Tensor forward(const data::Batch& batch, std::optional<random::Stream> stream) {
    const TileGuard tiles;
    pack_weights<T>(parts_.layers, changes_of<T>(parts_.layers) == changes_at_gradients_);
    layout_.emplace(batch, row_unit());
    runs_ = layout_->runs(tensor::workers());
    ids_ = parts_.embeddings.ids(batch, *layout_);
    draw_dropout(stream);
    reserve(stream.has_value());
    tensor::for_each_task(runs_.size(), [&](std::size_t run, std::size_t worker) {
      forward_run(runs_[run], worker);
    });
    finish_first_tokens();
    at::Tensor result = at::empty({batch.rows, static_cast<std::int64_t>(hidden())}, at::kFloat);
    std::copy_n(first_x_.data(), result.numel(), result.mutable_data_ptr<float>());
    return result;
  }

  /// Adds to the parameters' gradients, given that of what `forward` returned last. Calls
  /// `layer_done(i)` when the gradients of layer i are complete, from the last layer to the first.
  template <class LayerDone>
  void backward(const at::Tensor& gradient, const LayerDone& layer_done) {
    const TileGuard tiles;
    changes_at_gradients_ = changes_of<T>(parts_.layers);
    float* const first = first_x_.data();  // what it held has been returned
    std::fill_n(first, first_rows_ * hidden(), 0.0F);
    std::copy_n(gradient.const_data_ptr<float>(), gradient.numel(), first);
    reserve_norm_gradients();
    back_to_first_contexts();
    tensor::for_each_task(runs_.size(), [&](std::size_t run, std::size_t worker) {
      backward_run(runs_[run], scratch_.of(worker));
    });
    for (std::size_t i = parts_.layers.size(); i-- > 0;) {
      add_weight_gradients(i);
      add_norm_gradients(i);
      layer_done(i);
    }
    norms_.add_to(parts_.embeddings.norm, 0);
    parts_.embeddings.scatter(ids_, hidden(), x_.data());
  }

 private:
  using Group = Layout::Group;
  using Run = Layout::Run;
  using Sequence = Layout::Sequence;

  /// What groups' rows are a multiple of.
  static std::size_t row_unit() { return rows_at_once<T>(); }

  [[nodiscard]] std::size_t hidden() const { return parts_.layers.front().hidden(); }
  [[nodiscard]] std::size_t inner() const { return parts_.layers.front().inner(); }
  [[nodiscard]] const Layer<T>& last() const { return parts_.layers.back(); }

  void draw_dropout(const std::optional<random::Stream>& stream) {
    std::uint64_t site = 1;  // 0 is the head's
    const auto draw = [&](double probability) {
      return stream && probability > 0 ? kernels::Dropout{stream->at(site++), probability}
                                       : kernels::Dropout{};
    };
    embedding_dropout_ = draw(parts_.hidden_dropout);
    dropout_.clear();
    for (std::size_t i = 0; i < parts_.layers.size(); ++i) {
      const auto attention = draw(parts_.attention_dropout);
      const auto first = draw(parts_.drops_attention_output ? parts_.hidden_dropout : 0);
      dropout_.push_back({attention, first, draw(parts_.hidden_dropout)});
    }
  }

  // ---- memory

  void reserve(bool keep) {
    const std::size_t rows = layout_->rows();
    keeps_ = keep;
    most_rows_ = std::max(std::ranges::max_element(runs_, {}, &Run::rows)->rows, row_unit());
    first_rows_ = round_up(layout_->sequences().size(), Layout::matrix_unit);
    rows_.clear();
    const std::size_t memories = keep ? parts_.layers.size() : tensor::workers();
    memory_.resize(std::max(memory_.size(), memories));
    for (std::size_t i = 0; i < memories; ++i) {
      rows_.push_back(memory_[i].reserve(keep ? rows : most_rows_, hidden(), inner(), keep));
    }
    first_tokens_ = first_memory_.reserve(first_rows_, hidden(), inner(), keep);
    std::fill_n(first_tokens_.context, first_rows_ * hidden(), T{});
    std::fill_n(first_x_.reserve(first_rows_ * hidden()), first_rows_ * hidden(), 0.0F);
    x_.reserve((keep ? rows : memories * most_rows_) * hidden());
    if (keep) {
      first_gradient_.reserve(first_rows_ * hidden());
      normal_.reserve(rows * hidden());
      inverse_.reserve(rows);
    }
    const std::size_t attention =
        kernels::AttentionScratch::floats(layout_->longest(), hidden() / last().heads);
    scratch_.reserve(tensor::workers(), most_rows_, hidden(), attention);
  }

  /// A layer's rows of a run, in the forward pass.
  [[nodiscard]] LayerRows<T> rows_of(std::size_t layer, const Run& run, std::size_t worker) const {
    return keeps_ ? rows_of(layer, run.row) : rows_[worker];
  }

  [[nodiscard]] LayerRows<T> rows_of(std::size_t layer, std::size_t row) const {
    return rows_[layer].from(row, hidden(), inner());
  }

  /// Calls use(group, its index) for each of a run.
  template <class Use>
  void for_each_group(const Run& run, const Use& use) const {
    for (std::size_t i = run.first; i < run.end; ++i) use(layout_->groups()[i], i);
  }

  /// Calls use(sequence, its index) for each of a run.
  template <class Use>
  void for_each_sequence(const Run& run, const Use& use) const {
    const std::size_t end = layout_->groups()[run.end - 1].end;
    for (std::size_t i = layout_->groups()[run.first].first; i < end; ++i) {
      use(layout_->sequences()[i], i);
    }
  }

  /// Calls use(row, count) for the rows behind the last sequence of each of a run's groups.
  template <class Use>
  void for_each_rest(const Run& run, const Use& use) const {
    for_each_group(run, [&](const Group& group, std::size_t) {
      const Sequence& last = layout_->sequences()[group.end - 1];
      const std::size_t row = last.row + last.length;
      use(row, group.row + group.rows - row);
    });
  }

  [[nodiscard]] std::uint32_t score_index(const Sequence& sequence) const {
    return static_cast<std::uint32_t>(sequence.squares * last().heads);
  }

  [[nodiscard]] std::uint32_t element_index(std::size_t row) const {
    return static_cast<std::uint32_t>(row * hidden());
  }

  // ---- the forward pass

  void forward_run(const Run& run, std::size_t worker) {
    const Scratch<T> scratch = scratch_.of(worker);
    float* const x = x_.data() + (keeps_ ? run.row : worker * most_rows_) * hidden();
    embed(run, x, rows_of(0, run, worker).input);
    for (std::size_t i = 0; i + 1 < parts_.layers.size(); ++i) {
      const Layer<T>& layer = parts_.layers[i];
      const auto rows = rows_of(i, run, worker);
      layer.project(rows, run.rows, scratch);
      attend(i, run, rows, scratch);
      layer.finish(rows, run.rows, dropout_[i], element_index(run.row), x,
                   rows_of(i + 1, run, worker).input, scratch);
    }
    attend_first_tokens(run, rows_of(parts_.layers.size() - 1, run, worker), x, scratch);
  }

  void embed(const Run& run, float* x, T* input) {
    parts_.embeddings.add_up(ids_.data() + run.row, run.rows, hidden(), x);
    kernels::norm_and_drop<T>(x, parts_.embeddings.norm.weights(), embedding_dropout_,
                              element_index(run.row),
                              {x, input, keeps_ ? normal_.data() + run.row * hidden() : nullptr,
                               keeps_ ? inverse_.data() + run.row : nullptr},
                              run.rows, hidden());
  }

  /// `of_run` are the rows from the run's first on.
  void attend(std::size_t i, const Run& run, const LayerRows<T>& of_run,
              const Scratch<T>& scratch) const {
    for_each_sequence(run, [&](const Sequence& sequence, std::size_t) {
      const auto rows = of_run.from(sequence.row - run.row, hidden(), inner());
      parts_.layers[i].attend(rows, sequence.length, sequence.length, dropout_[i].attention,
                              score_index(sequence), rows.context, scratch);
    });
    for_each_rest(run, [&](std::size_t row, std::size_t count) {
      std::fill_n(of_run.context + (row - run.row) * hidden(), count * hidden(), T{});
    });
  }

  /// The last layer's attention. Nobody but the first tokens asks, but the backward pass reads all
  /// of q.
  void attend_first_tokens(const Run& run, const LayerRows<T>& of_run, const float* x,
                           const Scratch<T>& scratch) {
    const std::size_t i = parts_.layers.size() - 1;
    if (keeps_) {
      last().project(of_run, run.rows, scratch);
    } else {
      last().project_keys(of_run, run.rows, scratch);
      project_first_queries(run, of_run, scratch);
    }
    for_each_sequence(run, [&](const Sequence& sequence, std::size_t s) {
      const std::size_t row = sequence.row - run.row;
      last().attend(of_run.from(row, hidden(), inner()), sequence.length, 1, dropout_[i].attention,
                    score_index(sequence), first_tokens_.context + s * hidden(), scratch);
      std::copy_n(x + row * hidden(), hidden(), first_x_.data() + s * hidden());
    });
  }

  /// q of the first tokens, by way of rows that lie together.
  void project_first_queries(const Run& run, const LayerRows<T>& of_run,
                             const Scratch<T>& scratch) const {
    T* const input = scratch.gradient;
    T* const queries = of_run.context;  // that of the first tokens lies elsewhere
    std::size_t count = 0;
    for_each_sequence(run, [&](const Sequence& sequence, std::size_t) {
      const T* const first = of_run.input + (sequence.row - run.row) * hidden();
      std::copy_n(first, hidden(), input + count++ * hidden());
    });
    const std::size_t rows = round_up(count, row_unit());
    std::fill_n(input + count * hidden(), (rows - count) * hidden(), T{});
    last().project_queries(input, rows, queries, scratch);
    const T* next = queries;
    for_each_sequence(run, [&](const Sequence& sequence, std::size_t) {
      std::copy_n(next, hidden(), of_run.qkv + (sequence.row - run.row) * 3 * hidden());
      next += hidden();
    });
  }

  /// Calls use(first row, rows from there) for blocks of the first tokens' rows.
  template <class Use>
  void for_each_first_block(const Use& use) const {
    tensor::for_each_task(first_rows_ / row_unit(), [&](std::size_t task, std::size_t worker) {
      const std::size_t row = task * row_unit();
      use(row, first_tokens_.from(row, hidden(), inner()), task, scratch_.of(worker));
    });
  }

  void finish_first_tokens() {
    for_each_first_block(
        [&](std::size_t row, const LayerRows<T>& rows, std::size_t, const Scratch<T>& scratch) {
          last().finish(rows, row_unit(), dropout_.back(), element_index(row),
                        first_x_.data() + row * hidden(), rows.input, scratch);
        });
  }

  // ---- the backward pass

  void back_to_first_contexts() {
    for_each_first_block([&](std::size_t row, const LayerRows<T>& rows, std::size_t task,
                             const Scratch<T>& scratch) {
      last().finish_backward(
          rows, row_unit(), dropout_.back(), element_index(row), first_x_.data() + row * hidden(),
          first_gradient_.data() + row * hidden(),
          [&](std::size_t norm, const auto& use) {
            use(0, row_unit(), first_norms_.gamma(task, norm), first_norms_.beta(task, norm));
          },
          scratch);
    });
  }

  void backward_run(const Run& run, const Scratch<T>& scratch) {
    float* const gradient = x_.data() + run.row * hidden();
    back_to_last_input(run, gradient, scratch);
    for (std::size_t i = parts_.layers.size() - 1; i-- > 0;) {
      const auto rows = rows_of(i, run.row);
      const auto sums = [&](std::size_t norm, const auto& use) {
        for_each_norm_sum(run, norm_of(i) + norm, use);
      };
      parts_.layers[i].finish_backward(rows, run.rows, dropout_[i], element_index(run.row),
                                       gradient, scratch.gradient, sums, scratch);
      attend_backward(i, run, scratch);
      parts_.layers[i].project_backward(rows, run.rows, gradient, scratch);
    }
    for_each_norm_sum(
        run, 0, [&](std::size_t at, std::size_t count, float* d_gamma, float* d_beta) {
          const std::size_t row = run.row + at;
          kernels::norm_and_drop_backward(
              x_.data() + row * hidden(), normal_.data() + row * hidden(), inverse_.data() + row,
              parts_.embeddings.norm.weights().gamma, embedding_dropout_, element_index(row),
              d_gamma, d_beta, count, hidden());
        });
  }

  /// The gradient of the last layer's input, which comes from the first tokens alone.
  void back_to_last_input(const Run& run, float* gradient, const Scratch<T>& scratch) const {
    const std::size_t i = parts_.layers.size() - 1;
    std::fill_n(gradient, run.rows * hidden(), 0.0F);
    for_each_sequence(run, [&](const Sequence& sequence, std::size_t s) {
      const auto rows = rows_of(i, sequence.row);
      last().attend_backward(rows, sequence.length, 1, dropout_[i].attention, score_index(sequence),
                             first_gradient_.data() + s * hidden(), scratch);
      for (std::size_t token = 1; token < sequence.length; ++token) {
        std::fill_n(rows.qkv + token * 3 * hidden(), hidden(), T{});  // did not ask
      }
      std::copy_n(first_x_.data() + s * hidden(), hidden(),
                  gradient + (sequence.row - run.row) * hidden());
    });
    clear_rest_of_qkv(i, run);
    last().project_backward(rows_of(i, run.row), run.rows, gradient, scratch);
  }

  void attend_backward(std::size_t i, const Run& run, const Scratch<T>& scratch) const {
    for_each_sequence(run, [&](const Sequence& sequence, std::size_t) {
      parts_.layers[i].attend_backward(
          rows_of(i, sequence.row), sequence.length, sequence.length, dropout_[i].attention,
          score_index(sequence), scratch.gradient + (sequence.row - run.row) * hidden(), scratch);
    });
    clear_rest_of_qkv(i, run);
  }

  void clear_rest_of_qkv(std::size_t layer, const Run& run) const {
    for_each_rest(run, [&](std::size_t row, std::size_t count) {
      std::fill_n(rows_of(layer, row).qkv, count * 3 * hidden(), T{});
    });
  }

  void add_weight_gradients(std::size_t i) {
    const Layer<T>& layer = parts_.layers[i];
    const bool is_last = i + 1 == parts_.layers.size();
    const LayerRows<T>& rows = is_last ? first_tokens_ : rows_[i];
    const std::size_t count = is_last ? first_rows_ : layout_->rows();
    clear_behind_groups(i);
    const std::array<WeightProduct<T>, 4> products{
        {{&layer.qkv, rows_[i].input, rows_[i].qkv, layout_->rows()},
         {&layer.attention_output, rows.context, rows.normal1, count},
         {&layer.intermediate, rows.middle, rows.slope, count},
         {&layer.output, rows.active, rows.normal2, count}}};
    weight_gradients_.add(products);
  }

  /// The rows that make the matrices' height a multiple of 32 belong to no group.
  void clear_behind_groups(std::size_t layer) const {
    const Group& group = layout_->groups().back();
    const std::size_t row = group.row + group.rows;
    const std::size_t count = layout_->rows() - row;
    const auto rows = rows_of(layer, row);
    std::fill_n(rows.qkv, count * 3 * hidden(), T{});
    for (T* matrix : {rows.input, rows.context, rows.normal1, rows.middle, rows.normal2}) {
      std::fill_n(matrix, count * hidden(), T{});
    }
    for (T* matrix : {rows.slope, rows.active}) std::fill_n(matrix, count * inner(), T{});
  }

  // ---- LayerNorms' gradients: first the embeddings', then two a layer; the last layer's, which
  // the first tokens alone go through, are apart

  static std::size_t norm_of(std::size_t layer) { return 1 + 2 * layer; }

  /// Calls use(row, count, d_gamma, d_beta) for each group of a run: its rows, counted from the
  /// run's first, and its own sums for a norm.
  template <class Use>
  void for_each_norm_sum(const Run& run, std::size_t norm, const Use& use) const {
    for_each_group(run, [&](const Group& group, std::size_t g) {
      use(group.row - run.row, group.rows, norms_.gamma(g, norm), norms_.beta(g, norm));
    });
  }

  void reserve_norm_gradients() {
    norms_.reserve(layout_->groups().size(), norm_of(parts_.layers.size() - 1), hidden());
    first_norms_.reserve(first_rows_ / row_unit(), 2, hidden());
  }

  void add_norm_gradients(std::size_t i) const {
    const bool is_last = i + 1 == parts_.layers.size();
    const NormGradients& norms = is_last ? first_norms_ : norms_;
    const std::size_t first = is_last ? 0 : norm_of(i);
    norms.add_to(parts_.layers[i].norm1, first);
    norms.add_to(parts_.layers[i].norm2, first + 1);
  }

  EncoderParts<T> parts_;
  // The count of changes when there last were gradients. While it stays, the gradients may have
  // been applied in a way that nobody counts, so each pass packs the weights.
  std::int64_t changes_at_gradients_ = -1;
  std::optional<Layout> layout_;
  std::vector<Run> runs_;
  std::vector<Embeddings::Ids> ids_;
  kernels::Dropout embedding_dropout_;
  std::vector<LayerDropout> dropout_;

  bool keeps_ = false;                  // what a backward pass reads
  std::size_t most_rows_ = 0;           // of a run
  std::vector<LayerMemory<T>> memory_;  // a layer each, or a worker each where nothing is kept
  std::vector<LayerRows<T>> rows_;
  LayerMemory<T> first_memory_;  // the last layer's, behind attention: a row a sequence
  LayerRows<T> first_tokens_;
  std::size_t first_rows_ = 0;
  Buffer<float> first_x_;
  Buffer<T> first_gradient_;
  Buffer<float> x_;   // the residual on the way there, its gradient on the way back
  Buffer<T> normal_;  // of the embeddings
  Buffer<float> inverse_;
  NormGradients norms_;
  NormGradients first_norms_;
  ScratchMemory<T> scratch_;
  WeightGradients<T> weight_gradients_;
};

}  // namespace seqtrain::model::cpu
