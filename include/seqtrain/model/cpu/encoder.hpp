#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
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
#include <seqtrain/model/cpu/rows.hpp>
#include <seqtrain/model/cpu/weight_gradients.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// An encoder with both passes written out, for the processor: products in T (float or bfloat16),
/// everything else in float. Tokens are stored without padding. A thread computes both passes of a
/// run of sequences through all layers; with fewer runs than threads, the threads share the heads
/// of attention and, if that is faster, the panels of each product. Afterwards the threads share
/// the weights' gradients. If the result is the first token's, the last layer computes only what
/// first tokens need. The results do not depend on the number of threads. If `forward` gets no
/// stream, it keeps only the vectors of distances, and each thread reuses its memory for every run
/// and every layer.
///
/// A step is one application of a layer; a layer with shared weights is applied in several steps.
template <class T>
class Encoder {
 public:
  explicit Encoder(EncoderParts<T> parts)
      : embeddings_{std::move(parts.embeddings), std::move(parts.projection)},
        order_{model::steps(parts.order, parts.layers.size())},
        distances_{std::move(parts.distances)},
        vectors_{parts.take_vectors()},
        layers_{std::move(parts.layers)},
        rates_{parts.dropout},
        pooling_{parts.pooling},
        padding_id_{parts.padding_id} {
    std::uint64_t adapters = 0;
    for (PackedLinear<T>* const linear : all_linears()) {
      drops_inputs_ |= linear->low_rank().number(adapters);
    }
  }

  /// Lets an optimizer pack the weights that learn: see `tensor::PackedCopy`.
  void offer_packing(std::span<tensor::Parameter> parameters) {
    for (PackedLinear<T>* const linear : all_linears()) linear->offer_packing(parameters);
  }

  /// Packs the weights of linear layers and frees their tensors. In bf16 it also rounds the
  /// embeddings of words to bfloat16. Afterwards only `forward` without a stream may be called,
  /// unless adapters learn.
  void keep_packed_only() {
    if constexpr (sizeof(T) == sizeof(Bf16)) embeddings_.round_words();
    cpu::keep_packed_only<PackedLinear<T>>(all_linears());
  }

  /// Returns the pooled hidden states [rows, hidden], in fp32, or without pooling those of all
  /// tokens, [rows, width, hidden], with 0 for padding. If `stream` has a value, dropout is
  /// applied and `backward` may be called afterwards.
  at::Tensor forward(const data::Batch& batch, std::optional<random::Stream> stream);

  /// Adds to the gradients of the parameters. `gradient` is the gradient of the last result of
  /// `forward`. Calls `layer_done(i)` when the gradients of layer i are complete, from the last
  /// layer to the first.
  template <class LayerDone>
  void backward(const at::Tensor& gradient, const LayerDone& layer_done);

 private:
  using Group = Layout::Group;
  using Run = Layout::Run;
  using Sequence = Layout::Sequence;

  /// The largest number of runs if each has its own share of the gradients of distances' vectors.
  static constexpr std::size_t shares = 8;

  /// The number of rows of a group is a multiple of this.
  static std::size_t row_unit() { return rows_at_once<T>(); }

  [[nodiscard]] std::size_t steps() const { return order_.size(); }
  [[nodiscard]] const Layer<T>& layer(std::size_t step) const { return layers_[order_[step]]; }
  [[nodiscard]] const Layer<T>& last() const { return layers_[order_.back()]; }
  [[nodiscard]] LayerShape shape() const { return last().shape(); }
  [[nodiscard]] std::size_t hidden() const { return last().hidden(); }

  /// Tells whether the result is the first token's, so that the last step computes no other.
  [[nodiscard]] bool takes_first_tokens() const { return pooling_ == Pooling::first_token; }

  /// Returns the number of steps that all tokens take. If the result is the first token's, the last
  /// step is for first tokens alone.
  [[nodiscard]] std::size_t full_steps() const {
    return takes_first_tokens() ? steps() - 1 : steps();
  }

  [[nodiscard]] std::vector<PackedLinear<T>*> all_linears() {
    std::vector<PackedLinear<T>*> linears;
    if (embeddings_.projection()) linears.push_back(&*embeddings_.projection());
    for (Layer<T>& layer : layers_) {
      for (PackedLinear<T>* const linear : layer.linears()) linears.push_back(linear);
    }
    if (vectors_) {
      for (PackedLinear<T>& map : vectors_->maps()) linears.push_back(&map);
    }
    return linears;
  }

  void reserve(const data::Batch& batch, const std::optional<random::Stream>& stream);
  /// Decides the dropout of each place in the encoder and begins the embeddings' pass.
  void draw_dropout(const data::Batch& batch, const std::optional<random::Stream>& stream,
                    std::size_t x_rows);

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

  /// Tells whether a norm comes before a step's attention.
  [[nodiscard]] bool input_is_normalized(std::size_t step) const {
    return step > 0 || embeddings_.has_first_norm();
  }

  /// Returns a group's sums for the gradients of a head's norms, see `Layer::attend_backward`, or
  /// of those of all heads, see `Layer::rotate_backward`.
  [[nodiscard]] float* head_norms_of(std::size_t step, std::size_t group,
                                     std::size_t key_head = 0) const {
    if (!layer(step).query_norm) return nullptr;
    return head_norms_.gamma(group, step) + 2 * key_head * layer(step).head_size();
  }

  // ---- the threads

  /// Tells whether there is no run for each thread, as in a batch of one long text. Then the
  /// threads take the runs from step to step and share the heads of attention.
  [[nodiscard]] bool has_few_runs() const { return runs_.size() < tensor::workers(); }

  /// Tells whether it is faster that the threads share the panels of each product and take the runs
  /// one after another, though a tenth of a run's work, such as norms, is not shared.
  [[nodiscard]] bool is_faster_by_panels() const {
    const auto threads = static_cast<double>(std::min(tensor::workers(), hidden() / panel));
    return static_cast<double>(runs_.size()) * (0.1 + 1 / threads) < 0.8;
  }

  /// Returns the memory of the worker with this number, for `for_each_run`.
  [[nodiscard]] Scratch<T> scratch_of(std::size_t worker) const {
    return shares_panels_ ? scratch_.shared(worker) : scratch_.of(worker);
  }

  /// Calls use(run, worker) for each run, on all threads unless these share the panels. The run may
  /// use the memory of the worker with this number. If there are few runs, the number is the run's
  /// index, so that each call finds the same memory for a run.
  template <class Use>
  void for_each_run(const Use& use) const {
    if (shares_panels_) {
      for (std::size_t run = 0; run < runs_.size(); ++run) use(runs_[run], run);
      return;
    }
    const bool few = has_few_runs();
    tensor::for_each_task(runs_.size(), [&](std::size_t run, std::size_t worker) {
      use(runs_[run], few ? run : worker);
    });
  }

  /// Calls use(index of a run, head, worker) for each head of keys of each run, on all threads.
  template <class Use>
  void for_each_head(std::size_t step, const Use& use) const {
    const std::size_t heads = layer(step).key_heads();
    tensor::for_each_task(runs_.size() * heads, [&](std::size_t task, std::size_t worker) {
      use(task / heads, task % heads, worker);
    });
  }

  // ---- the forward pass

  void forward_run(const Run& run, std::size_t worker);
  void forward_by_steps();
  /// Returns the residual of a run, in the forward pass.
  [[nodiscard]] float* residual_of(const Run& run, std::size_t worker) const;
  void embed(const Run& run, std::size_t worker);
  /// Computes the queries, keys and values of attention.
  void project(std::size_t step, const Run& run, std::size_t worker) const;
  /// Computes the attention of the heads with the same keys. `of_run` are the rows from the run's
  /// first on.
  void attend(std::size_t step, const Run& run, const LayerRows<T>& of_run, std::size_t key_head,
              const Scratch<T>& scratch) const;
  /// Computes the part of the layer after attention.
  void finish(std::size_t step, const Run& run, std::size_t worker) const;
  void end_forward(const Run& run, std::size_t worker);
  /// Computes the last step's attention. Only first tokens attend, but the backward pass reads the
  /// queries of all tokens.
  void attend_first_tokens(const Run& run, const LayerRows<T>& of_run, const float* x,
                           const Scratch<T>& scratch);
  /// Computes q of the first tokens, whose inputs are first copied into consecutive rows.
  void project_first_queries(const Run& run, const LayerRows<T>& of_run,
                             const Scratch<T>& scratch) const;

  // ---- the backward pass

  void reserve_gradients();
  /// Computes the backward pass of all runs one step at a time, because the gradients of distances'
  /// vectors are large or because there are few runs.
  void backward_by_steps();
  void backward_step_by_heads(std::size_t step);
  /// Computes the gradient of the last full step's result.
  void begin_backward(const Run& run, const Scratch<T>& scratch) const;
  void backward_step(std::size_t step, const Run& run, const Scratch<T>& scratch) const;
  /// Leaves the gradient of attention's result in `scratch.gradient`.
  void finish_backward(std::size_t step, const Run& run, const Scratch<T>& scratch) const;
  void project_backward(std::size_t step, const Run& run, const Scratch<T>& scratch) const;
  /// Computes the gradient of the embeddings.
  void end_backward(const Run& run, const Scratch<T>& scratch) const;
  /// Computes the gradient of the last step's input, which comes from the first tokens alone.
  void attend_first_tokens_backward(const Run& run, float* gradient,
                                    const Scratch<T>& scratch) const;
  /// Computes the backward pass of `attend`. `d_context` has the rows of the run.
  void attend_backward(std::size_t step, const Run& run, std::size_t key_head, const T* d_context,
                       const Scratch<T>& scratch) const;
  /// Returns the attention of a sequence in a backward pass, with pointers to its gradients.
  [[nodiscard]] AttentionCall attention_of(std::size_t step, const Run& run,
                                           const Sequence& sequence, std::size_t group,
                                           std::size_t queries) const;
  void clear_rest_of_qkv(std::size_t step, const Run& run) const;

  // ---- the weights' gradients

  void add_weight_gradients(std::size_t step);
  /// Clears the rows that make the matrices' height a multiple of 32.
  void clear_rows_without_group(std::size_t step) const;
  void add_norm_gradients(std::size_t step) const;

  EmbeddingStage<T> embeddings_;
  std::vector<std::size_t> order_;  // a layer's index for each step
  std::optional<DistanceBias> distances_;
  std::optional<DistanceVectors<T>> vectors_;
  std::vector<Layer<T>> layers_;
  DropoutRates rates_;
  Pooling pooling_;
  std::int64_t padding_id_;    // see `EncoderParts`
  bool drops_inputs_ = false;  // adapters' inputs have dropout
  // The count of the weights' changes at the last backward pass. While the count is the same, the
  // gradients may have been applied in a way that nobody counts, so each pass packs the weights.
  std::int64_t changes_at_gradients_ = -1;

  std::optional<Layout> layout_;
  std::vector<Run> runs_;
  bool shares_panels_ = false;  // decided once a pass, because each thread may count other workers
  std::vector<LayerDropout> dropout_;   // one for each step
  bool keeps_ = false;                  // whether the pass keeps the input of a backward pass
  std::size_t most_rows_ = 0;           // rows of the longest run
  std::vector<LayerMemory<T>> memory_;  // one for each step, or for each worker if nothing is kept
  std::vector<LayerRows<T>> rows_;
  Buffer<float> x_;              // [rows, hidden], the residual; in the backward pass its gradient
  FirstTokens<T> first_tokens_;  // of the last step, if the result is the first token's
  float* result_ = nullptr;      // [sequences, hidden], during the forward pass; see `forward`
  std::size_t width_ = 0;        // the batch's
  const float* d_result_ = nullptr;

  std::vector<std::size_t> last_tokens_;  // numbers of the sequences' last tokens, if they are read

  NormGradients norms_;       // the norms of each full step, a set for each group
  NormGradients head_norms_;  // norms of queries and of keys, for each head or all, likewise
  ScratchMemory<T> scratch_;
  WeightGradients<T> weight_gradients_;
};

}  // namespace seqtrain::model::cpu

#include <seqtrain/model/cpu/encoder_backward.hpp>
#include <seqtrain/model/cpu/encoder_forward.hpp>
