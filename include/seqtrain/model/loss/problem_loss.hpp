#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/mse_loss.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/loss/cross_entropy.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// The loss of a classifier, as in transformers: cross-entropy, the mean squared error for
/// regression, and the mean binary cross-entropy over rows and labels for multi-label
/// classification.
class ProblemLoss {
 public:
  /// Takes the options of `CrossEntropy`. Throws `InputError` if there is label smoothing and
  /// targets are not labels.
  ProblemLoss(ProblemType type, double label_smoothing)
      : type_{type}, cross_entropy_{label_smoothing} {
    check(label_smoothing == 0, "label_smoothing");
  }

  [[nodiscard]] ProblemType type() const { return type_; }

  /// Sets the weights of `CrossEntropy`. Throws `InputError` if targets are not labels.
  void set_class_weights(std::vector<double> weights, std::int64_t num_labels, c10::Device device) {
    check(weights.empty(), "class_weights");
    cross_entropy_.set_class_weights(std::move(weights), num_labels, device);
  }

  /// Returns the loss of logits [rows, labels] for the labels or targets of a batch, a scalar.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    if (type_ == ProblemType::regression) return at::mse_loss(logits, batch.targets);
    if (type_ == ProblemType::multi_label) {
      return at::binary_cross_entropy_with_logits(logits, batch.targets);
    }
    return cross_entropy_(logits, batch.labels.to(at::kLong));
  }

  /// Returns the weight of a batch in a mean over several batches.
  [[nodiscard]] double weight_of(const data::Batch& batch) const {
    return cross_entropy_.weight_of(batch.labels);
  }

 private:
  void check(bool good, const char* field) const {
    if (good || type_ == ProblemType::single_label) return;
    throw InputError{"does not go with " + std::string{name(type_)}, {.object = field}};
  }

  ProblemType type_;
  CrossEntropy cross_entropy_;
};

}  // namespace seqtrain::model
