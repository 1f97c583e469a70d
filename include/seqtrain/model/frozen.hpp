#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/row_cache.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model {

/// Keeps the hidden states that a frozen encoder computes for the rows of a loader's sets.
class FrozenStates {
 public:
  /// Returns the hidden states [rows, hidden] of a batch: kept states, or the result of compute(),
  /// which it keeps. It forgets all states if a value of a frozen parameter has changed.
  template <class Compute>
  at::Tensor operator()(const data::Batch& batch, std::int64_t hidden,
                        std::span<const tensor::Parameter> parameters, const Compute& compute) {
    const auto numbers = [](const at::Tensor& states) {
      return std::span{states.mutable_data_ptr<float>(), static_cast<std::size_t>(states.numel())};
    };
    forget_states_of_other_weights(parameters);
    at::Tensor states = at::empty({batch.rows, hidden}, at::kFloat);
    if (rows_.find(batch, numbers(states))) return states;
    states = compute();
    rows_.keep(batch, numbers(states));
    return states;
  }

 private:
  void forget_states_of_other_weights(std::span<const tensor::Parameter> parameters) {
    std::int64_t changes = 0;
    for (const auto& parameter : parameters) {
      if (!parameter.gradient.defined()) changes += tensor::changes_of(parameter.value);
    }
    if (std::exchange(changes_, changes) != changes) rows_.clear();
  }

  RowCache rows_{memory_for_states()};
  std::int64_t changes_ = 0;  // changes of the frozen parameters when `rows_` was computed
};

}  // namespace seqtrain::model
