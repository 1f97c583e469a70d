#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/encoder.hpp>
#include <seqtrain/model/cpu/first_tokens.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/pooling.hpp>
#include <seqtrain/model/cpu/rows.hpp>
#include <seqtrain/tensor/threads.hpp>

/// The forward pass of `Encoder`.
namespace seqtrain::model::cpu {

template <class T>
at::Tensor Encoder<T>::forward(const data::Batch& batch, std::optional<random::Stream> stream) {
  const TileGuard tiles;
  for (Layer<T>& layer : layers_) layer.prepare_norms();
  const auto linears = all_linears();
  pack_weights<PackedLinear<T>>(linears, changes_of<T>(linears) == changes_at_gradients_);
  layout_.emplace(batch, row_unit());
  if (pooling_ == Pooling::last_token) last_tokens_ = last_tokens_of(batch, padding_id_);
  // If the vectors of distances get gradients, each run has a share of its own for them.
  runs_ = vectors_ && stream ? layout_->split_into(shares) : layout_->runs(tensor::workers());
  shares_panels_ = is_faster_by_panels();
  reserve(batch, stream);
  width_ = static_cast<std::size_t>(batch.width);
  at::Tensor result = empty_result(batch, pooling_, hidden());
  result_ = result.mutable_data_ptr<float>();
  if (has_few_runs()) {
    forward_by_steps();
  } else {
    for_each_run([&](const Run& run, std::size_t worker) { forward_run(run, worker); });
  }
  if (takes_first_tokens()) {
    first_tokens_.finish(last(), dropout_.back(), scratch_, result_);
  }
  return result;
}

template <class T>
void Encoder<T>::reserve(const data::Batch& batch, const std::optional<random::Stream>& stream) {
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
  if (takes_first_tokens()) first_tokens_.reserve(layout_->sequences().size(), shape(), keeps_);
  draw_dropout(batch, stream, x_rows);
  if (distances_) distances_->look_up(layout_->longest());
  std::size_t copies = 0;
  for (const Layer<T>& layer : layers_) {
    copies = std::max(copies, layer.numbers_of_copies(layout_->longest()));
  }
  scratch_.reserve(tensor::workers(), most_rows_, shape(),
                   prepare_attention(layers_, layout_->longest(), vectors_.has_value()), copies);
}

template <class T>
void Encoder<T>::draw_dropout(const data::Batch& batch, const std::optional<random::Stream>& stream,
                              std::size_t x_rows) {
  std::uint64_t site = 1;  // 0 is the head's
  const auto draw = [&](double probability) {
    return stream && probability > 0 ? kernels::HashDropout{stream->at(site++), probability}
                                     : kernels::HashDropout{};
  };
  const auto draw_site = [&] {
    return stream && drops_inputs_ ? stream->at(site++) | 1 : std::uint64_t{0};
  };
  embeddings_.begin(batch, *layout_, draw(rates_.embeddings), draw_site(), x_rows, keeps_);
  dropout_.clear();
  std::vector<kernels::HashDropout> of_distances;
  std::vector<std::uint64_t> of_adapters;
  for (std::size_t i = 0; i < steps(); ++i) {
    const auto attention = draw(rates_.attention);
    const auto first = draw(rates_.attention_output);
    const auto gates = draw(rates_.gates);
    dropout_.push_back({attention, first, gates, draw(rates_.output), draw_site()});
    of_distances.push_back(draw(rates_.distances));
    of_adapters.push_back(dropout_.back().adapters);
  }
  if (!vectors_) return;
  vectors_->forward(layout_->longest(), std::move(of_distances), std::move(of_adapters), keeps_);
}

template <class T>
void Encoder<T>::forward_run(const Run& run, std::size_t worker) {
  embed(run, worker);
  for (std::size_t i = 0; i < full_steps(); ++i) {
    project(i, run, worker);
    for (std::size_t head = 0; head < layer(i).key_heads(); ++head) {
      attend(i, run, rows_of(i, run, worker), head, scratch_.of(worker));
    }
    finish(i, run, worker);
  }
  end_forward(run, worker);
}

template <class T>
void Encoder<T>::forward_by_steps() {
  for_each_run([&](const Run& run, std::size_t worker) { embed(run, worker); });
  for (std::size_t step = 0; step < full_steps(); ++step) {
    for_each_run([&](const Run& run, std::size_t worker) { project(step, run, worker); });
    for_each_head(step, [&](std::size_t run, std::size_t head, std::size_t worker) {
      attend(step, runs_[run], rows_of(step, runs_[run], run), head, scratch_.of(worker));
    });
    for_each_run([&](const Run& run, std::size_t worker) { finish(step, run, worker); });
  }
  for_each_run([&](const Run& run, std::size_t worker) { end_forward(run, worker); });
}

template <class T>
float* Encoder<T>::residual_of(const Run& run, std::size_t worker) const {
  return x_.data() + (keeps_ ? run.row : worker * most_rows_) * hidden();
}

template <class T>
void Encoder<T>::embed(const Run& run, std::size_t worker) {
  const std::size_t place = keeps_ ? run.row : worker * most_rows_;
  embeddings_.forward(run.row, run.rows, place, residual_of(run, worker),
                      rows_of(0, run, worker).input, scratch_of(worker));
}

template <class T>
void Encoder<T>::project(std::size_t step, const Run& run, std::size_t worker) const {
  const auto of_run = rows_of(step, run, worker);
  const Scratch<T> scratch = scratch_of(worker);
  scratch.reduced->drop_at(dropout_[step].adapters, run.row);
  layer(step).project(of_run, run.rows, scratch);
  layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t, std::size_t) {
    layer(step).rotate(of_run.from(sequence.row - run.row, shape()),
                       attention_of(step, sequence, sequence.length));
  });
  layout_->for_each_rest(run, [&](std::size_t row, std::size_t count) {
    const std::size_t columns = shape().context;
    std::fill_n(of_run.context + (row - run.row) * columns, count * columns, T{});
  });
}

template <class T>
void Encoder<T>::attend(std::size_t step, const Run& run, const LayerRows<T>& of_run,
                        std::size_t key_head, const Scratch<T>& scratch) const {
  layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t, std::size_t) {
    const auto rows = of_run.from(sequence.row - run.row, shape());
    layer(step).attend(rows, key_head, attention_of(step, sequence, sequence.length), rows.context,
                       scratch);
  });
}

template <class T>
void Encoder<T>::finish(std::size_t step, const Run& run, std::size_t worker) const {
  const Scratch<T> scratch = scratch_of(worker);
  T* const next = step + 1 < steps() ? rows_of(step + 1, run, worker).input : scratch.gradient;
  layer(step).finish(rows_of(step, run, worker), run.rows, dropout_[step], index_of(run.row),
                     residual_of(run, worker), next, scratch);
}

template <class T>
void Encoder<T>::end_forward(const Run& run, std::size_t worker) {
  const Scratch<T> scratch = scratch_of(worker);
  const float* const x = residual_of(run, worker);
  if (takes_first_tokens()) {
    return attend_first_tokens(run, rows_of(steps() - 1, run, worker), x, scratch);
  }
  const float* const states = last().pre_norm ? scratch.wide : x;
  if (pooling_ == Pooling::mean) return pool(*layout_, run, states, hidden(), result_);
  if (pooling_ == Pooling::last_token) {
    return take_last(*layout_, run, last_tokens_, states, hidden(), result_);
  }
  pad(*layout_, run, states, hidden(), width_, result_);
}

template <class T>
void Encoder<T>::attend_first_tokens(const Run& run, const LayerRows<T>& of_run, const float* x,
                                     const Scratch<T>& scratch) {
  const std::size_t step = steps() - 1;
  scratch.reduced->drop_at(dropout_[step].adapters, run.row);
  if (keeps_) {
    last().project(of_run, run.rows, scratch);
  } else {
    last().project_keys(of_run, run.rows, scratch);
    project_first_queries(run, of_run, scratch);
  }
  layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t s, std::size_t) {
    const std::size_t row = sequence.row - run.row;
    const auto rows = of_run.from(row, shape());
    const auto call = attention_of(step, sequence, 1);
    last().rotate(rows, call);
    for (std::size_t head = 0; head < last().key_heads(); ++head) {
      last().attend(rows, head, call, first_tokens_.context(s), scratch);
    }
    std::copy_n(x + row * hidden(), hidden(), first_tokens_.x(s));
  });
}

template <class T>
void Encoder<T>::project_first_queries(const Run& run, const LayerRows<T>& of_run,
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
  const std::size_t columns = shape().context;
  layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t, std::size_t) {
    std::copy_n(next, columns, of_run.qkv + (sequence.row - run.row) * shape().qkv);
    next += columns;
  });
}

}  // namespace seqtrain::model::cpu
