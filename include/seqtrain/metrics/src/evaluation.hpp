#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/metrics/regression.hpp>

namespace seqtrain::metrics {

SEQTRAIN_SEPARATE Evaluation::Evaluation(ProblemType type, std::vector<std::string> targets) {
  if (type == ProblemType::regression) figures_.emplace<Regression>(std::move(targets));
  if (type == ProblemType::multi_label) figures_.emplace<MultiLabel>();
}

SEQTRAIN_SEPARATE void Evaluation::add(const Logits& logits, std::span<const std::int64_t> labels,
                                       std::span<const float> targets) {
  if (auto* const classes = std::get_if<Classification>(&figures_)) {
    classes->add(logits, labels);
  } else if (auto* const numbers = std::get_if<Regression>(&figures_)) {
    numbers->add(logits, targets);
  } else {
    std::get<MultiLabel>(figures_).add(logits, targets);
  }
}

SEQTRAIN_SEPARATE ClassificationReport Evaluation::report() const {
  return std::visit([](const auto& figures) { return figures.report(); }, figures_);
}

}  // namespace seqtrain::metrics
