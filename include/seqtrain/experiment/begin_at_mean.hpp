#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_report.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::experiment {

/// Returns the mean of each target of a regression's examples.
[[nodiscard]] inline std::vector<double> mean_targets(const data::EncodedSet& set) {
  std::vector<double> means(set.targets_a_row());
  for (std::size_t row = 0; row < set.size(); ++row) {
    const auto targets = set.targets(row);
    for (std::size_t i = 0; i < means.size(); ++i) means[i] += static_cast<double>(targets[i]);
  }
  for (double& mean : means) mean /= static_cast<double>(set.size());
  return means;
}

/// Sets the bias of a regression's new head to the mean of the training targets, so that the head
/// need not learn it first: targets may be far from 0, and the learning rate is small. A model
/// without such a bias stays as it is. docs/defaults.md has the figures.
inline void begin_at_mean(model::AnyClassifier& model, const data::EncodedSet& train) {
  const auto means = mean_targets(train);
  const model::LoadReport& report = model.load_report();
  const auto is_new = [&](const std::string& name) {
    return std::ranges::count(report.fresh, name) + std::ranges::count(report.resized, name) > 0;
  };
  const auto all = model.parameters();
  const auto bias = std::find_if(all.rbegin(), all.rend(), [&](const tensor::Parameter& parameter) {
    return parameter.role == tensor::Role::bias &&
           parameter.depth.part == tensor::Depth::Part::head &&
           parameter.value.numel() == static_cast<std::int64_t>(means.size());
  });
  if (bias == all.rend() || !is_new(bias->name)) return;
  const at::NoGradGuard no_gradients;
  at::Tensor{bias->value}.copy_(at::tensor(means));
}

}  // namespace seqtrain::experiment
