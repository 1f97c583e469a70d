#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/tensor.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::model {

/// The loss of classification: torch's `cross_entropy` with `weight`, `label_smoothing` and
/// reduction "mean". It is a mean weighted by the rows' label weights, so the weight of a batch in
/// a mean over several batches is `weight_of`.
class CrossEntropy {
 public:
  /// `label_smoothing` is the fraction of a row's target that is spread evenly over all labels.
  explicit CrossEntropy(double label_smoothing = 0) : label_smoothing_{label_smoothing} {
    if (label_smoothing >= 0 && label_smoothing <= 1) return;
    throw InputError{"must be at least 0 and at most 1", {.object = "label_smoothing"}};
  }

  /// Sets one weight for each of `num_labels` labels. Without weights all rows count the same.
  /// Throws `InputError` if their number is wrong or a weight is not above 0.
  void set_class_weights(std::vector<double> weights, std::int64_t num_labels, c10::Device device) {
    const auto demand = [](bool good, const std::string& problem) {
      if (!good) throw InputError{problem, {.object = "class_weights"}};
    };
    demand(
        weights.empty() || std::ssize(weights) == num_labels,
        std::to_string(weights.size()) + " weights for " + std::to_string(num_labels) + " labels");
    for (const double weight : weights) {
      demand(weight > 0 && std::isfinite(weight), "must be numbers above 0");
    }
    tensor_.reset();
    if (!weights.empty()) tensor_ = at::tensor(weights, at::kFloat).to(device);
    weights_ = std::move(weights);
  }

  /// Returns the loss of logits [rows, labels] for int64 labels [rows], a scalar.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& logits, const at::Tensor& labels) const {
    constexpr std::int64_t ignore_index = -100;
    return at::cross_entropy_loss(logits, labels, tensor_, at::Reduction::Mean, ignore_index,
                                  label_smoothing_);
  }

  /// Returns the sum of the rows' weights.
  [[nodiscard]] double weight_of(std::span<const std::int64_t> labels) const {
    if (weights_.empty()) return static_cast<double>(labels.size());
    return std::transform_reduce(
        labels.begin(), labels.end(), 0.0, std::plus{},
        [this](auto label) { return weights_.at(static_cast<std::size_t>(label)); });
  }

 private:
  double label_smoothing_;
  std::vector<double> weights_;
  std::optional<at::Tensor> tensor_;  ///< the weights [labels] on the logits' device
};

}  // namespace seqtrain::model
