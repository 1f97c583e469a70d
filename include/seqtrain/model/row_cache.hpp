#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/Device.h>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/memory.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>

namespace seqtrain::model {

/// Keeps vectors that were computed for rows of sets, for later batches with these rows, up to a
/// limit of memory.
class RowCache {
 public:
  /// `most_bytes` limits the memory of the rows.
  explicit RowCache(std::size_t most_bytes = std::numeric_limits<std::size_t>::max())
      : most_bytes_{most_bytes} {}

  /// Returns the bytes that a row of `size` floats takes.
  [[nodiscard]] static constexpr std::size_t bytes_a_row(std::size_t size) {
    constexpr std::size_t place = 60;  // its place in the map
    return size * sizeof(float) + place;
  }

  /// Copies the vectors of a batch's rows to `out` [rows, size]. Returns false if one is missing or
  /// the batch does not tell its set; `out` then has no meaning.
  [[nodiscard]] bool find(const data::Batch& batch, std::span<float> out) const {
    const auto set = sets_.find(batch.set);
    if (set == sets_.end()) return false;
    const std::size_t size = out.size() / batch.row_ids.size();
    for (std::size_t i = 0; i < batch.row_ids.size(); ++i) {
      const auto row = set->second.find(batch.row_ids[i]);
      if (row == set->second.end()) return false;
      std::copy_n(row->second.get(), size, out.data() + i * size);
    }
    return true;
  }

  /// Keeps the vectors [rows, size] of a batch's rows, except new rows for which there is no memory
  /// within the limit.
  void keep(const data::Batch& batch, std::span<const float> vectors) {
    if (batch.set == 0) return;
    auto& rows = sets_[batch.set];
    const std::size_t size = vectors.size() / batch.row_ids.size();
    for (std::size_t i = 0; i < batch.row_ids.size(); ++i) {
      if (!rows.contains(batch.row_ids[i])) {
        if (most_bytes_ - bytes_ < bytes_a_row(size)) continue;
        bytes_ += bytes_a_row(size);
      }
      auto& row = rows[batch.row_ids[i]];
      if (!row) row = std::make_unique<float[]>(size);
      std::copy_n(vectors.data() + i * size, size, row.get());
    }
  }

  void clear() {
    sets_.clear();
    bytes_ = 0;
  }

 private:
  using Rows = std::unordered_map<std::int64_t, std::unique_ptr<float[]>>;

  std::map<std::uint64_t, Rows> sets_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
};

/// Returns the memory in bytes that a frozen encoder's states may take: this process's share of
/// half of what is available.
[[nodiscard]] inline std::size_t memory_for_states() {
  const auto available = available_memory();
  if (!available) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(*available / 2) / static_cast<std::size_t>(local_processes());
}

/// Tells whether operators on a device keep the states of a frozen encoder. On a processor only the
/// hand-written backend does. Deterministic operators keep none, because the last bits of a row
/// depend on its batch.
[[nodiscard]] inline bool operators_keep_states(c10::Device device) {
  return !device.is_cpu() && !at::globalContext().deterministicAlgorithms();
}

/// Keeps the hidden states that a frozen encoder computes for the rows of a loader's sets, in host
/// memory.
class FrozenStates {
 public:
  /// `parameters` without a gradient are the encoder's, except those of a head of the program's
  /// own.
  explicit FrozenStates(std::span<const tensor::Parameter> parameters) : parameters_{parameters} {}

  /// Returns the hidden states [rows, hidden] of a batch: kept states, or the result of compute(),
  /// which it keeps. It forgets all states if a value of the encoder has changed. The states of a
  /// device come to the host while the program continues, until the next call.
  template <class Compute>
  at::Tensor operator()(const data::Batch& batch, const Compute& compute) {
    if (batch.set == 0) return compute();
    forget_states_of_other_weights();
    settle();
    if (like_.defined()) {
      const auto options = at::TensorOptions{at::kFloat}.pinned_memory(!like_.is_cpu());
      const at::Tensor kept = at::empty({batch.rows, like_.size(1)}, options);
      if (rows_.find(batch, numbers(kept))) {
        return kept.to(like_.device(), /*non_blocking=*/true).to(like_.scalar_type());
      }
    }
    const at::Tensor states = compute();
    like_ = at::empty({0, states.size(1)}, states.options());
    coming_.emplace(states.detach().to(at::kFloat));
    coming_rows_.set = batch.set;
    coming_rows_.row_ids = batch.row_ids;
    if (states.is_cpu()) settle();
    return states;
  }

 private:
  static std::span<float> numbers(const at::Tensor& states) {
    return {states.mutable_data_ptr<float>(), static_cast<std::size_t>(states.numel())};
  }

  /// Keeps the states that are coming.
  void settle() {
    if (coming_) rows_.keep(coming_rows_, numbers(coming_->wait()));
    coming_.reset();
  }

  void forget_states_of_other_weights() {
    std::int64_t changes = 0;
    for (const auto& parameter : parameters_) {
      if (parameter.gradient.defined() || parameter.name.starts_with(own_head_prefix)) continue;
      changes += tensor::changes_of(parameter.value);
    }
    if (std::exchange(changes_, changes) == changes) return;
    rows_.clear();
    coming_.reset();
  }

  std::span<const tensor::Parameter> parameters_;
  RowCache rows_{memory_for_states()};
  std::optional<tensor::Arriving> coming_;  // states on their way to the host
  data::Batch coming_rows_;                 // their set and rows
  at::Tensor like_;           // no states, of the device and the type that states have
  std::int64_t changes_ = 0;  // changes of the encoder when `rows_` was computed
};

/// Returns a warning if the states of all rows of a run's sets do not fit into the memory for them,
/// else "".
[[nodiscard]] inline std::string states_warning(std::size_t rows, std::size_t hidden,
                                                std::size_t memory = memory_for_states()) {
  const std::size_t bytes = rows * RowCache::bytes_a_row(hidden);
  if (bytes <= memory) return {};
  const auto mib = [](std::size_t size) { return std::to_string(size >> 20) + " MiB"; };
  return "the frozen encoder's states of all examples take " + mib(bytes) + ", and " + mib(memory) +
         " of memory may be used for them, so every epoch computes many of them again";
}

}  // namespace seqtrain::model
