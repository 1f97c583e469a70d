#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::model {

/// One weight for each label, on the host and on a model's device.
class LabelWeights {
 public:
  /// All labels count the same.
  LabelWeights() = default;

  /// An empty list means that all labels count the same. Throws `InputError` if the number of
  /// weights is not `num_labels` or a weight is not above 0.
  LabelWeights(const std::vector<double>& weights, std::int64_t num_labels, c10::Device device) {
    if (weights.empty()) return;
    const Demand demand{"loss"};
    demand(
        std::ssize(weights) == num_labels, "class_weights",
        std::to_string(weights.size()) + " weights for " + std::to_string(num_labels) + " labels");
    for (const double weight : weights) {
      demand(weight > 0 && std::isfinite(weight), "class_weights", "must be numbers above 0");
    }
    host_ = at::tensor(weights, at::kFloat);
    device_ = host_->to(device);
  }

  /// Returns the weights [labels], fp32, or nothing if all labels count the same.
  [[nodiscard]] std::optional<at::Tensor> on(c10::Device device) const {
    return device.is_cpu() ? host_ : device_;
  }

 private:
  std::optional<at::Tensor> host_;
  std::optional<at::Tensor> device_;
};

}  // namespace seqtrain::model
