#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/metrics/regression.hpp>

namespace seqtrain::metrics {

/// Computes the figures of a problem type over a stream of batches.
class Evaluation {
 public:
  /// `targets` are the names of the targets of a regression, if they are known.
  explicit Evaluation(ProblemType type, std::vector<std::string> targets = {});

  /// Adds logits [rows, labels] with labels [rows] or targets [rows, labels], as the problem type
  /// needs. Throws `Error` if they do not fit together.
  void add(const Logits& logits, std::span<const std::int64_t> labels,
           std::span<const float> targets);

  [[nodiscard]] ClassificationReport report() const;

 private:
  std::variant<Classification, Regression, MultiLabel> figures_;
};

}  // namespace seqtrain::metrics

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/metrics/src/evaluation.hpp>
#endif
