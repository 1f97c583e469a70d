#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <seqtrain/model/cpu/encoder.hpp>
#include <seqtrain/model/cpu/first_tokens.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/pooling.hpp>
#include <seqtrain/model/cpu/rows.hpp>
#include <seqtrain/model/cpu/weight_gradients.hpp>

/// The backward pass of `Encoder`.
namespace seqtrain::model::cpu {

template <class T>
template <class LayerDone>
void Encoder<T>::backward(const at::Tensor& gradient, const LayerDone& layer_done) {
  const TileGuard tiles;
  changes_at_gradients_ = changes_of<T>(all_linears());
  d_result_ = gradient.const_data_ptr<float>();
  reserve_gradients();
  if (takes_first_tokens()) {
    first_tokens_.finish_backward(last(), dropout_.back(), scratch_, d_result_);
  }
  if (vectors_ || has_few_runs()) {
    backward_by_steps();
  } else {
    for_each_run([&](const Run& run, std::size_t worker) {
      const Scratch<T> scratch = scratch_.of(worker);
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

template <class T>
void Encoder<T>::reserve_gradients() {
  const std::size_t groups = layout_->groups().size();
  norms_.reserve(groups, last().norms().size() * full_steps(), hidden());
  if (last().query_norm) head_norms_.reserve(groups, steps(), last().context_size());
  embeddings_.begin_backward(groups, layout_->rows());
  if (distances_) distances_->reserve_gradients(groups);
  if (vectors_) vectors_->begin_backward(runs_.size());
}

template <class T>
void Encoder<T>::backward_by_steps() {
  const auto end_step = [&](std::size_t step) {
    if (vectors_) vectors_->backward(step, weight_gradients_);
  };
  for_each_run(
      [&](const Run& run, std::size_t worker) { begin_backward(run, scratch_of(worker)); });
  if (takes_first_tokens()) end_step(steps() - 1);
  for (std::size_t i = full_steps(); i-- > 0;) {
    if (has_few_runs()) {
      backward_step_by_heads(i);
    } else {
      for_each_run(
          [&](const Run& run, std::size_t worker) { backward_step(i, run, scratch_of(worker)); });
    }
    end_step(i);
  }
  if (vectors_) vectors_->end_backward();
  for_each_run([&](const Run& run, std::size_t worker) { end_backward(run, scratch_of(worker)); });
}

template <class T>
void Encoder<T>::backward_step_by_heads(std::size_t step) {
  for_each_run(
      [&](const Run& run, std::size_t worker) { finish_backward(step, run, scratch_of(worker)); });
  for_each_head(step, [&](std::size_t run, std::size_t head, std::size_t worker) {
    attend_backward(step, runs_[run], head, scratch_.of(run).gradient, scratch_.of(worker));
  });
  for_each_run(
      [&](const Run& run, std::size_t worker) { project_backward(step, run, scratch_of(worker)); });
}

template <class T>
void Encoder<T>::begin_backward(const Run& run, const Scratch<T>& scratch) const {
  float* const gradient = x_.data() + run.row * hidden();
  std::fill_n(gradient, run.rows * hidden(), 0.0F);
  if (takes_first_tokens()) return attend_first_tokens_backward(run, gradient, scratch);
  float* const d_states = last().pre_norm ? scratch.wide : gradient;
  if (pooling_ == Pooling::mean) {
    return pool_backward(*layout_, run, d_result_, hidden(), d_states);
  }
  if (pooling_ == Pooling::last_token) {
    return take_last_backward(*layout_, run, last_tokens_, d_result_, hidden(), d_states);
  }
  pad_backward(*layout_, run, d_result_, hidden(), width_, d_states);
}

template <class T>
void Encoder<T>::backward_step(std::size_t step, const Run& run, const Scratch<T>& scratch) const {
  finish_backward(step, run, scratch);
  for (std::size_t head = 0; head < layer(step).key_heads(); ++head) {
    attend_backward(step, run, head, scratch.gradient, scratch);
  }
  project_backward(step, run, scratch);
}

template <class T>
void Encoder<T>::finish_backward(std::size_t step, const Run& run,
                                 const Scratch<T>& scratch) const {
  float* const gradient = x_.data() + run.row * hidden();
  const auto rows = rows_of(step, run.row);
  const std::size_t first_norm = last().norms().size() * step;
  const auto sums = [&](std::size_t norm, const auto& use) {
    layout_->for_each_group(run, [&](const Group& group, std::size_t g) {
      use(group.row - run.row, group.rows, norms_.gamma(g, first_norm + norm),
          norms_.beta(g, first_norm + norm));
    });
  };
  layer(step).finish_backward(rows, run.rows, dropout_[step], index_of(run.row), gradient,
                              scratch.gradient, sums, scratch);
}

template <class T>
void Encoder<T>::project_backward(std::size_t step, const Run& run,
                                  const Scratch<T>& scratch) const {
  layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t, std::size_t group) {
    layer(step).rotate_backward(rows_of(step, sequence.row),
                                attention_of(step, sequence, sequence.length),
                                head_norms_of(step, group));
  });
  clear_rest_of_qkv(step, run);
  if (step == 0 && !embeddings_.learns()) return;
  scratch.reduced->drop_at(dropout_[step].adapters, run.row);
  layer(step).project_backward(rows_of(step, run.row), run.rows, input_is_normalized(step),
                               x_.data() + run.row * hidden(), scratch);
}

template <class T>
void Encoder<T>::end_backward(const Run& run, const Scratch<T>& scratch) const {
  if (!embeddings_.learns()) return;
  layout_->for_each_group(run, [&](const Group& group, std::size_t g) {
    embeddings_.backward(g, group.row, group.rows, x_.data() + group.row * hidden(),
                         scratch.wide + (group.row - run.row) * hidden(), scratch);
  });
}

template <class T>
void Encoder<T>::attend_first_tokens_backward(const Run& run, float* gradient,
                                              const Scratch<T>& scratch) const {
  const std::size_t step = steps() - 1;
  layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t s, std::size_t group) {
    const auto call = attention_of(step, run, sequence, group, 1);
    const auto rows = rows_of(step, sequence.row);
    for (std::size_t head = 0; head < last().key_heads(); ++head) {
      last().attend_backward(rows, head, call, first_tokens_.d_context(s),
                             head_norms_of(step, group, head), scratch);
    }
    last().rotate_backward(rows, call, head_norms_of(step, group));
    std::copy_n(first_tokens_.x(s), hidden(), gradient + (sequence.row - run.row) * hidden());
  });
  clear_rest_of_qkv(step, run);
  scratch.reduced->drop_at(dropout_[step].adapters, run.row);
  last().project_backward(rows_of(step, run.row), run.rows, input_is_normalized(step), gradient,
                          scratch);
}

template <class T>
void Encoder<T>::attend_backward(std::size_t step, const Run& run, std::size_t key_head,
                                 const T* d_context, const Scratch<T>& scratch) const {
  layout_->for_each_sequence(run, [&](const Sequence& sequence, std::size_t, std::size_t group) {
    const auto call = attention_of(step, run, sequence, group, sequence.length);
    layer(step).attend_backward(rows_of(step, sequence.row), key_head, call,
                                d_context + (sequence.row - run.row) * shape().context,
                                head_norms_of(step, group, key_head), scratch);
  });
}

template <class T>
AttentionCall Encoder<T>::attention_of(std::size_t step, const Run& run, const Sequence& sequence,
                                       std::size_t group, std::size_t queries) const {
  AttentionCall call = attention_of(step, sequence, queries);
  if (distances_) call.d_bias = distances_->gradients(group);
  if (vectors_) {
    const auto share = static_cast<std::size_t>(&run - runs_.data());
    vectors_->add_gradients_to(call.vectors, share);
  }
  return call;
}

template <class T>
void Encoder<T>::clear_rest_of_qkv(std::size_t step, const Run& run) const {
  layout_->for_each_rest(run, [&](std::size_t row, std::size_t count) {
    std::fill_n(rows_of(step, row).qkv, count * shape().qkv, T{});
  });
}

template <class T>
void Encoder<T>::add_weight_gradients(std::size_t step) {
  const Layer<T>& of = layer(step);
  const bool is_for_first_tokens = step == full_steps();
  const LayerRows<T>& rows = is_for_first_tokens ? first_tokens_.matrices() : rows_[step];
  const std::size_t count = is_for_first_tokens ? first_tokens_.rows() : layout_->rows();
  clear_rows_without_group(step);
  const std::uint64_t site = dropout_[step].adapters;
  // The linear layer with the longest tasks is the first, so that the threads end at about the same
  // time.
  const std::array<WeightProduct<T>, 4> products{
      {{&of.output, rows.active, rows.normal2, count, site},
       {&of.qkv, rows_[step].input, rows_[step].qkv, layout_->rows(), site},
       {&of.attention_output, rows.context, rows.normal1, count, site},
       {&of.intermediate, rows.middle, rows.factors, count, site}}};
  weight_gradients_.add(products);
}

template <class T>
void Encoder<T>::clear_rows_without_group(std::size_t step) const {
  const auto [hidden, inner, factors, context, qkv, results, raw] = shape();
  const std::size_t count = layout_->rows() - layout_->rows_of_groups();
  const auto rows = rows_of(step, layout_->rows_of_groups());
  std::fill_n(rows.qkv, count * qkv, T{});
  std::fill_n(rows.context, count * context, T{});
  for (T* matrix : {rows.input, rows.normal1, rows.middle, rows.normal2}) {
    std::fill_n(matrix, count * hidden, T{});
  }
  std::fill_n(rows.factors, count * factors, T{});
  std::fill_n(rows.active, count * inner, T{});
}

template <class T>
void Encoder<T>::add_norm_gradients(std::size_t step) const {
  const Layer<T>& of = layer(step);
  if (of.norms_all_heads()) {
    head_norms_.add_to(of.query_norm->d_gamma, step, 0, of.context_size());
    head_norms_.add_to(of.key_norm->d_gamma, step, of.context_size(), of.key_size());
  } else if (of.query_norm) {
    const std::size_t size = of.head_size();
    for (std::size_t head = 0; head < of.key_heads(); ++head) {
      head_norms_.add_to(of.query_norm->d_gamma, step, 2 * head * size, size);
      head_norms_.add_to(of.key_norm->d_gamma, step, (2 * head + 1) * size, size);
    }
  }
  if (step == full_steps()) return first_tokens_.add_norm_gradients(last());
  const auto norms = of.norms();
  for (std::size_t i = 0; i < norms.size(); ++i) norms_.add_to(*norms[i], norms.size() * step + i);
}

}  // namespace seqtrain::model::cpu
