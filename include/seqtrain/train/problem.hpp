#pragma once

#include <span>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/problem_type.hpp>

namespace seqtrain::train {

/// Returns `model.problem_type()` where the model has it, else one label an example.
template <Model M>
ProblemType problem_type_of(const M& model) {
  if constexpr (requires { model.problem_type(); }) {
    return model.problem_type();
  } else {
    return ProblemType::single_label;
  }
}

/// Returns the numbers [rows, labels] that a batch has in place of labels; none where its type has
/// no member `targets`.
template <Batch B>
std::span<const float> targets_of(const B& batch) {
  if constexpr (requires { batch.targets; }) {
    return batch.targets;
  } else {
    return {};
  }
}

}  // namespace seqtrain::train
