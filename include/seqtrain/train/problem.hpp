#pragma once

#include <span>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/problem_type.hpp>

namespace seqtrain::train {

/// What a model says that its outputs stand for; where it says nothing, one label an example.
template <Model M>
ProblemType problem_type_of(const M& model) {
  if constexpr (requires { model.problem_type(); }) {
    return model.problem_type();
  } else {
    return ProblemType::single_label;
  }
}

/// What a batch's rows have in place of labels: numbers, [rows, labels]; nothing where its type has
/// no such member.
template <Batch B>
std::span<const float> targets_of(const B& batch) {
  if constexpr (requires { batch.targets; }) {
    return batch.targets;
  } else {
    return {};
  }
}

}  // namespace seqtrain::train
