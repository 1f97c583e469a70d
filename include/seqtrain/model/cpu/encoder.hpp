#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/model/cpu/distance_bias.hpp>
#include <seqtrain/model/cpu/distance_vectors.hpp>
#include <seqtrain/model/cpu/embedding_stage.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/first_tokens.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/mean_pooling.hpp>
#include <seqtrain/model/cpu/norm_gradients.hpp>
#include <seqtrain/model/cpu/round_up.hpp>
#include <seqtrain/model/cpu/rows.hpp>
#include <seqtrain/model/cpu/scratch.hpp>
#include <seqtrain/model/cpu/weight_gradients.hpp>
#include <seqtrain/tensor/parallel.hpp>

namespace seqtrain::model::cpu {

/// An encoder with both passes written out, for the processor: products in T (float or bfloat16),
/// everything else in float. Tokens lie without padding. A thread takes a run of sequences through
/// all layers and back; then the threads share the weights' gradients. If the result is the first
/// token's, the last layer computes only what first tokens need. The results are the same at any
/// number of threads. A pass without dropout keeps only vectors of distances: each thread uses its
/// own memory again for every run and every layer.
///
/// A step is the passing of a layer; a layer with shared weights is passed in several steps.
template <class T>
class Encoder {
 public:
  explicit Encoder(EncoderParts<T> parts)
      : embeddings_{std::move(parts.embeddings), std::move(parts.projection)},
        layers_{std::move(parts.layers)},
        order_{std::move(parts.order)},
        rates_{parts.dropout},
        mean_pooling_{parts.mean_pooling} {
    if (order_.empty()) {
      order_.resize(layers_.size());
      std::iota(order_.begin(), order_.end(), std::size_t{0});
    }
    if (parts.distances) distances_.emplace(*std::move(parts.distances));
    if (parts.vectors) {
      const std::size_t heads = last().heads;
      const float scale = kernels::attention_scale(last().score_parts, hidden() / heads);
      vectors_.emplace(*std::move(parts.vectors), heads, scale);
    }
  }

  /// Returns the pooled hidden states [rows, hidden], in fp32. If `stream` has
  /// a value, dropout is applied and `backward` may be called afterwards.
  at::Tensor forward(const data::Batch& batch, std::optional<random::Stream> stream) {
    const TileGuard tiles;
    const auto linears = all_linears();
    pack_weights<Linear<T>>(linears, changes_of<T>(linears) == changes_at_gradients_);
    layout_.emplace(batch, row_unit());
    // With gradients of distances' vectors, a run has a share of them.
    runs_ = vectors_ && stream ? layout_->split_into(shares) : layout_->runs(tensor::workers());
    reserve(batch, stream);
    at::Tensor result = at::empty({batch.rows, static_cast<std::int64_t>(hidden())}, at::kFloat);
    result_ = result.mutable_data_ptr<float>();
    tensor::for_each_task(runs_.size(), [&](std::size_t run, std::size_t worker) {
      forward_run(runs_[run], worker);
    });
    if (!mean_pooling_) {
      first_tokens_.finish(last(), dropout_.back(), scratch_, result_);
    }
    return result;
  }

  /// Adds to the parameters' gradients, given that of what `forward` returned last. Calls
  /// `layer_done(i)` when the gradients of layer i are complete, from the last layer to the first.
  template <class LayerDone>
  void backward(const at::Tensor& gradient, const LayerDone& layer_done) {
    const TileGuard tiles;
    changes_at_gradients_ = changes_of<T>(all_linears());
    d_result_ = gradient.const_data_ptr<float>();
    reserve_gradients();
    if (!mean_pooling_) {
      first_tokens_.finish_backward(last(), dropout_.back(), scratch_, d_result_);
    }
    if (vectors_) {
      backward_by_steps();
    } else {
      for_each_run([&](const Run& run, const Scratch<T>& scratch) {
        begin_backward(run, scratch);
        for (std::size_t i = full_steps(); i-- > 0;) backward_step(i, run, scratch);
        end_backward(run, scratch);
      });
    }
    if (distances_) distances_->add_gradients();
    for (std::size_t step = steps(); step-- > 0;) {
      add_weight_gradients(step);
      add_norm_gradients(step);
      const bool is_first_use = std::ranges::find(order_, order_[step]) - order_.begin() ==
                                static_cast<std::ptrdiff_t>(step);
      if (is_first_use) layer_done(order_[step]);
    }
    embeddings_.add_gradients(x_.data(), layout_->rows(), layout_->rows_of_groups(),
                              weight_gradients_);
  }

 private:
  using Group = Layout::Group;
  using Run = Layout::Run;
  using Sequence = Layout::Sequence;

  /// The most runs with gradients of distances' vectors of their own.
  static constexpr std::size_t shares = 8;

  /// The number of rows of a group is a multiple of this.
  static std::size_t row_unit() { return rows_at_once<T>(); }

  [[nodiscard]] std::size_t steps() const { return order_.size(); }
  [[nodiscard]] const Layer<T>& layer(std::size_t step) const { return layers_[order_[step]]; }
  [[nodiscard]] const Layer<T>& last() const { return layers_[order_.back()]; }
  [[nodiscard]] LayerShape shape() const { return last().shape(); }
  [[nodiscard]] std::size_t hidden() const { return last().hidden(); }

  /// Returns the number of steps that all tokens take. If the result is the first token's, the last
  /// step is for first tokens alone.
  [[nodiscard]] std::size_t full_steps() const { return mean_pooling_ ? steps() : steps() - 1; }

  [[nodiscard]] std::vector<Linear<T>*> all_linears() {
    std::vector<Linear<T>*> linears;
    if (embeddings_.projection()) linears.push_back(&*embeddings_.projection());
    for (Layer<T>& layer : layers_) {
      for (Linear<T>* const linear : layer.linears()) linears.push_back(linear);
    }
    if (vectors_) {
      for (Linear<T>& map : vectors_->maps()) linears.push_back(&map);
    }
    return linears;
  }

  // ---- memory

  void reserve(const data::Batch& batch, const std::optional<random::Stream>& stream) {
    keeps_ = stream.has_value();
    const std::size_t rows = layout_->rows();
    most_rows_ = std::max(std::ranges::max_element(runs_, {}, &Run::rows)->rows, row_unit());
    rows_.clear();
    const std::size_t memories = keeps_ ? steps() : tensor::workers();
    memory_.resize(std::max(memory_.size(), memories));
    for (std::size_t i = 0; i < memories; ++i) {
      rows_.push_back(memory_[i].reserve(keeps_ ? rows : most_rows_, shape(), keeps_));
    }
    const std::size_t x_rows = keeps_ ? rows : memories * most_rows_;
    x_.reserve(x_rows * hidden());
    if (!mean_pooling_) first_tokens_.reserve(layout_->sequences().size(), shape(), keeps_);
    draw_dropout(batch, stream, x_rows);
    if (distances_) distances_->look_up(layout_->longest());
    std::size_t attention = 0;
    for (const Layer<T>& layer : layers_) {
      const std::size_t floats = kernels::AttentionScratch::floats(
          layout_->longest(), hidden() / layer.heads, layer.reach, vectors_.has_value());
      attention = std::max(attention, floats);
      if (layer.rotary) layer.rotary->reserve(layout_->longest());
    }
    scratch_.reserve(tensor::workers(), most_rows_, hidden(), attention);
  }

  /// Decides the dropout of each place in the encoder and begins the embeddings' pass.
  void draw_dropout(const data::Batch& batch, const std::optional<random::Stream>& stream,
                    std::size_t x_rows) {
    std::uint64_t site = 1;  // 0 is the head's
    const auto draw = [&](double probability) {
      return stream && probability > 0 ? kernels::Dropout{stream->at(site++), probability}
                                       : kernels::Dropout{};
    };
    embeddings_.begin(batch, *layout_, draw(rates_.embeddings), x_rows, keeps_);
    dropout_.clear();
    std::vector<kernels::Dropout> of_distances;
    for (std::size_t i = 0; i < steps(); ++i) {
      const auto attention = draw(rates_.attention);
      const auto first = draw(rates_.attention_output);
      const auto gates = draw(rates_.gates);
      dropout_.push_back({attention, first, gates, draw(rates_.output)});
      of_distances.push_back(draw(rates_.distances));
    }
    if (vectors_) vectors_->forward(layout_->longest(), std::move(of_distances), keeps_);
  }

  /// Returns a step's rows of a run, in the forward pass.
  [[nodiscard]] LayerRows<T> rows_of(std::size_t step, const Run& run, std::size_t worker) const {
    return keeps_ ? rows_of(step, run.row) : rows_[worker];
  }

  [[nodiscard]] LayerRows<T> rows_of(std::size_t step, std::size_t row) const {
    return rows_[step].from(row, shape());
  }

  /// Returns the dropout's index of a row's first element.
  [[nodiscard]] std::uint32_t index_of(std::size_t row) const {
    return static_cast<std::uint32_t>(row * hidden());
  }

  [[nodiscard]] AttentionCall attention_of(std::size_t step, const Sequence& sequence,
                                           std::size_t queries) const {
    AttentionCall call{.length = sequence.length,
                       .queries = queries,
                       .dropout = dropout_[step].attention,
                       .first = static_cast<std::uint32_t>(sequence.squares * layer(step).heads)};
    if (distances_) {
      call.bias = distances_->values();
      call.bias_of_a_head = distances_->distances();
    }
    if (vectors_) {
      call.vectors = vectors_->vectors(step);
      call.vectors_of_a_head = vectors_->of_a_head();
    }
    return call;
  }

  // ---- the forward pass

  void forward_run(const Run& run, std::size_t worker) {
    const Scratch<T> scratch = scratch_.of(worker);
    const std::size_t place = keeps_ ? run.row : worker * most_rows_;
    float* const x = x_.data() + place * hidden();
    embeddings_.forward(run.row, run.rows, place, x, rows_of(0, run, worker).input, scratch);
    for (std::size_t i = 0; i < full_steps(); ++i) {
      const auto rows = rows_of(i, run, worker);
      layer(i).project(rows, run.rows, scratch);
      attend(i, run, rows, scratch);
      T* const next = i + 1 < steps() ? rows_of(i + 1, run, worker).input : scratch.gradient;
      layer(i).finish(rows, run.rows, dropout_[i], index_of(run.row), x, next, scratch);
    }
    if (mean_pooling_) {
      pool(*layout_, run, last().norms_first ? scratch.wide : x, hidden(), result_);
    } else {
      attend_first_tokens(run, rows_of(steps() - 1, run, worker), x, scratch);
    }
  }

  /// `of_run` are the rows from the run's first on.
  void attend(std::size_t step, const Run& run, const LayerRows<T>& of_run,
              const Scratch<T>& scratch) const {
    layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t, std::size_t) {
      const auto rows = of_run.from(sequence.row - run.row, shape());
      layer(step).attend(rows, attention_of(step, sequence, sequence.length), rows.context,
                         scratch);
    });
    layout_->for_each_rest(run, [&](std::size_t row, std::size_t count) {
      std::fill_n(of_run.context + (row - run.row) * hidden(), count * hidden(), T{});
    });
  }

  /// The last step's attention. Only first tokens attend, but the backward pass reads all of q.
  void attend_first_tokens(const Run& run, const LayerRows<T>& of_run, const float* x,
                           const Scratch<T>& scratch) {
    const std::size_t step = steps() - 1;
    if (keeps_) {
      last().project(of_run, run.rows, scratch);
    } else {
      last().project_keys(of_run, run.rows, scratch);
      project_first_queries(run, of_run, scratch);
    }
    layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t s, std::size_t) {
      const std::size_t row = sequence.row - run.row;
      last().attend(of_run.from(row, shape()), attention_of(step, sequence, 1),
                    first_tokens_.context(s), scratch);
      std::copy_n(x + row * hidden(), hidden(), first_tokens_.x(s));
    });
  }

  /// Computes q of the first tokens, whose inputs are first copied into consecutive rows.
  void project_first_queries(const Run& run, const LayerRows<T>& of_run,
                             const Scratch<T>& scratch) const {
    T* const input = scratch.gradient;
    T* const queries = of_run.context;  // the first tokens have a context of their own
    std::size_t count = 0;
    layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t, std::size_t) {
      const T* const first = of_run.input + (sequence.row - run.row) * hidden();
      std::copy_n(first, hidden(), input + count++ * hidden());
    });
    const std::size_t rows = round_up(count, row_unit());
    std::fill_n(input + count * hidden(), (rows - count) * hidden(), T{});
    last().project_queries(input, rows, queries, scratch);
    const T* next = queries;
    layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t, std::size_t) {
      std::copy_n(next, hidden(), of_run.qkv + (sequence.row - run.row) * 3 * hidden());
      next += hidden();
    });
  }

  // ---- the backward pass

  void reserve_gradients() {
    const std::size_t groups = layout_->groups().size();
    norms_.reserve(groups, 2 * full_steps(), hidden());
    embeddings_.begin_backward(groups, layout_->rows());
    if (distances_) distances_->reserve_gradients(groups);
    if (vectors_) vectors_->begin_backward(runs_.size());
  }

  /// Calls use(run, scratch) for each run, on all threads.
  template <class Use>
  void for_each_run(const Use& use) {
    tensor::for_each_task(runs_.size(), [&](std::size_t run, std::size_t worker) {
      use(runs_[run], scratch_.of(worker));
    });
  }

  /// Takes all runs back one step at a time, because the gradients of distances' vectors are large.
  void backward_by_steps() {
    for_each_run([&](const Run& run, const Scratch<T>& scratch) { begin_backward(run, scratch); });
    if (!mean_pooling_) vectors_->backward(steps() - 1, weight_gradients_);
    for (std::size_t i = full_steps(); i-- > 0;) {
      for_each_run(
          [&](const Run& run, const Scratch<T>& scratch) { backward_step(i, run, scratch); });
      vectors_->backward(i, weight_gradients_);
    }
    vectors_->end_backward();
    for_each_run([&](const Run& run, const Scratch<T>& scratch) { end_backward(run, scratch); });
  }

  /// Computes the gradient of the last full step's result.
  void begin_backward(const Run& run, const Scratch<T>& scratch) const {
    float* const gradient = x_.data() + run.row * hidden();
    std::fill_n(gradient, run.rows * hidden(), 0.0F);
    if (mean_pooling_) {
      pool_backward(*layout_, run, d_result_, hidden(),
                    last().norms_first ? scratch.wide : gradient);
    } else {
      attend_first_tokens_backward(run, gradient, scratch);
    }
  }

  void backward_step(std::size_t step, const Run& run, const Scratch<T>& scratch) const {
    float* const gradient = x_.data() + run.row * hidden();
    const auto rows = rows_of(step, run.row);
    const auto sums = [&](std::size_t norm, const auto& use) {
      layout_->for_each_group(run, [&](const Group& group, std::size_t g) {
        use(group.row - run.row, group.rows, norms_.gamma(g, 2 * step + norm),
            norms_.beta(g, 2 * step + norm));
      });
    };
    layer(step).finish_backward(rows, run.rows, dropout_[step], index_of(run.row), gradient,
                                scratch.gradient, sums, scratch);
    attend_backward(step, run, scratch);
    layer(step).project_backward(rows, run.rows, step > 0, gradient, scratch);
  }

  /// Computes the gradient of the embeddings.
  void end_backward(const Run& run, const Scratch<T>& scratch) const {
    layout_->for_each_group(run, [&](const Group& group, std::size_t g) {
      embeddings_.backward(g, group.row, group.rows, x_.data() + group.row * hidden(), scratch);
    });
  }

  /// Computes the gradient of the last step's input, which comes from the first tokens alone.
  void attend_first_tokens_backward(const Run& run, float* gradient,
                                    const Scratch<T>& scratch) const {
    const std::size_t step = steps() - 1;
    layout_->for_each_sequence(
        run, [&](const Sequence& sequence, std::size_t s, std::size_t group) {
          attend_backward(step, run, sequence, group, 1, first_tokens_.d_context(s), scratch);
          std::copy_n(first_tokens_.x(s), hidden(), gradient + (sequence.row - run.row) * hidden());
        });
    clear_rest_of_qkv(step, run);
    last().project_backward(rows_of(step, run.row), run.rows, step > 0, gradient, scratch);
  }

  void attend_backward(std::size_t step, const Run& run, const Scratch<T>& scratch) const {
    layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t, std::size_t group) {
      const T* const d_context = scratch.gradient + (sequence.row - run.row) * hidden();
      attend_backward(step, run, sequence, group, sequence.length, d_context, scratch);
    });
    clear_rest_of_qkv(step, run);
  }

  void attend_backward(std::size_t step, const Run& run, const Sequence& sequence,
                       std::size_t group, std::size_t queries, const T* d_context,
                       const Scratch<T>& scratch) const {
    AttentionCall call = attention_of(step, sequence, queries);
    if (distances_) call.d_bias = distances_->gradients(group);
    if (vectors_) {
      const auto share = static_cast<std::size_t>(&run - runs_.data());
      vectors_->add_gradients_to(call.vectors, share);
    }
    layer(step).attend_backward(rows_of(step, sequence.row), call, d_context, scratch);
  }

  void clear_rest_of_qkv(std::size_t step, const Run& run) const {
    layout_->for_each_rest(run, [&](std::size_t row, std::size_t count) {
      std::fill_n(rows_of(step, row).qkv, count * 3 * hidden(), T{});
    });
  }

  // ---- the weights' gradients

  void add_weight_gradients(std::size_t step) {
    const Layer<T>& of = layer(step);
    const bool is_for_first_tokens = step == full_steps();
    const LayerRows<T>& rows = is_for_first_tokens ? first_tokens_.matrices() : rows_[step];
    const std::size_t count = is_for_first_tokens ? first_tokens_.rows() : layout_->rows();
    clear_rows_without_group(step);
    const std::array<WeightProduct<T>, 4> products{
        {{&of.qkv, rows_[step].input, rows_[step].qkv, layout_->rows()},
         {&of.attention_output, rows.context, rows.normal1, count},
         {&of.intermediate, rows.middle, rows.factors, count},
         {&of.output, rows.active, rows.normal2, count}}};
    weight_gradients_.add(products);
  }

  /// Clears the rows that make the matrices' height a multiple of 32.
  void clear_rows_without_group(std::size_t step) const {
    const auto [hidden, inner, factors] = shape();
    const std::size_t count = layout_->rows() - layout_->rows_of_groups();
    const auto rows = rows_of(step, layout_->rows_of_groups());
    std::fill_n(rows.qkv, count * 3 * hidden, T{});
    for (T* matrix : {rows.input, rows.context, rows.normal1, rows.middle, rows.normal2}) {
      std::fill_n(matrix, count * hidden, T{});
    }
    std::fill_n(rows.factors, count * factors, T{});
    std::fill_n(rows.active, count * inner, T{});
  }

  void add_norm_gradients(std::size_t step) const {
    if (step == full_steps()) return first_tokens_.add_norm_gradients(last());
    norms_.add_to(layer(step).norm1, 2 * step);
    norms_.add_to(layer(step).norm2, 2 * step + 1);
  }

  EmbeddingStage<T> embeddings_;
  std::vector<Layer<T>> layers_;
  std::vector<std::size_t> order_;  // a layer's index for each step
  std::optional<DistanceBias> distances_;
  std::optional<DistanceVectors<T>> vectors_;
  DropoutRates rates_;
  bool mean_pooling_;
  // The count of changes when there last were gradients. While it stays, the gradients may have
  // been applied in a way that nobody counts, so each pass packs the weights.
  std::int64_t changes_at_gradients_ = -1;

  std::optional<Layout> layout_;
  std::vector<Run> runs_;
  std::vector<LayerDropout> dropout_;   // a step each
  bool keeps_ = false;                  // what a backward pass reads
  std::size_t most_rows_ = 0;           // of a run
  std::vector<LayerMemory<T>> memory_;  // a step each, or a worker each where nothing is kept
  std::vector<LayerRows<T>> rows_;
  Buffer<float> x_;              // [rows, hidden], the residual; in the backward pass its gradient
  FirstTokens<T> first_tokens_;  // of the last step, if the result is the first token's
  float* result_ = nullptr;      // [sequences, hidden], during the forward pass
  const float* d_result_ = nullptr;

  NormGradients norms_;  // two norms of each full step, a set for each group
  ScratchMemory<T> scratch_;
  WeightGradients<T> weight_gradients_;
};

}  // namespace seqtrain::model::cpu
