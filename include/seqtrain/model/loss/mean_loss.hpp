#pragma once

#include <utility>

#include <ATen/core/Tensor.h>

namespace seqtrain::model {

/// A mean loss that stays on its device until it is converted to a number, which waits for the
/// device.
class MeanLoss {
 public:
  explicit MeanLoss(at::Tensor value) : value_{std::move(value)} {}

  explicit operator double() const { return value_.item<double>(); }

  [[nodiscard]] const at::Tensor& tensor() const { return value_; }

 private:
  at::Tensor value_;
};

}  // namespace seqtrain::model
