#pragma once

#include <span>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/problem_type.hpp>

namespace seqtrain::train {

/// Returns `model.problem_type()` if the model has it, else `single_label`.
template <Model M>
ProblemType problem_type_of(const M& model) {
  if constexpr (requires { model.problem_type(); }) {
    return model.problem_type();
  } else {
    return ProblemType::single_label;
  }
}

/// Returns `batch.targets`, numbers [rows, labels] that replace label ids; none if the batch has no
/// such member.
template <Batch B>
std::span<const float> targets_of(const B& batch) {
  if constexpr (requires { batch.targets; }) {
    return batch.targets;
  } else {
    return {};
  }
}

}  // namespace seqtrain::train
