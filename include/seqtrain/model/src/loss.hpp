#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/operators.hpp>

namespace seqtrain::model {
namespace detail {

/// Throws `Error` unless a loss has returned one number for each row.
inline at::Tensor checked(at::Tensor numbers, std::int64_t rows, const std::string& what) {
  const bool is_row = numbers.defined() && numbers.dim() == 1 && numbers.size(0) == rows;
  if (is_row && numbers.is_floating_point()) return numbers;
  std::ostringstream form;
  if (!numbers.defined()) {
    form << "no tensor";
  } else if (is_row) {
    form << "numbers of the type " << c10::toString(numbers.scalar_type());
  } else {
    form << "a tensor of the shape " << numbers.sizes();
  }
  const bool has_labels = numbers.defined() && numbers.dim() == 2 && numbers.size(0) == rows;
  throw Error{"must return the " + what + " of each of " + std::to_string(rows) +
                  " rows, floating-point numbers of the shape [" + std::to_string(rows) +
                  "], but returns " + form.str(),
              {.object = "loss"},
              has_labels ? "take the mean over the labels only" : ""};
}

inline std::vector<double> numbers(const at::Tensor& tensor) {
  const at::Tensor wide = tensor.to(at::kDouble).contiguous();
  const auto* const first = wide.const_data_ptr<double>();
  return {first, first + wide.numel()};
}

}  // namespace detail

SEQTRAIN_SEPARATE MeanLoss::operator double() const {
  return value_.item<double>();
}

SEQTRAIN_SEPARATE at::Tensor AnyLoss::mean(const at::Tensor& logits,
                                           const tensor::Batch& batch) const {
  const at::Tensor losses = losses_of(logits, batch);
  const at::Tensor weights = weights_of(batch, logits.size(0));
  return weights.defined() ? losses.sum() / weights.sum() : losses.mean();
}

SEQTRAIN_SEPARATE double AnyLoss::weight_of(const data::Batch& batch) const {
  const at::Tensor weights = weights_of(tensor::labels_of(batch), batch.rows);
  if (!weights.defined()) return static_cast<double>(batch.rows);
  return weights.sum(at::kDouble).item<double>();
}

SEQTRAIN_SEPARATE metrics::RowLosses AnyLoss::rows(const metrics::Logits& logits,
                                                   const data::Batch& batch) const {
  const at::NoGradGuard no_gradients;
  const at::Tensor x =
      at::from_blob(const_cast<float*>(logits.data()), {logits.rows(), logits.cols()});
  tensor::Batch labels = tensor::labels_of(batch);
  labels.labels.clamp_min_(0);  // a row without a label has -1, and targets of NaN
  if (labels.targets.defined()) labels.targets.nan_to_num_(0);
  metrics::RowLosses result{.losses = detail::numbers(losses_of(x, labels))};
  const at::Tensor weights = weights_of(labels, logits.rows());
  const std::size_t rows = result.losses.size();
  result.weights = weights.defined() ? detail::numbers(weights) : std::vector<double>(rows, 1);
  const std::size_t targets = batch.targets.size() / std::max<std::size_t>(rows, 1);
  for (std::size_t row = 0; row < rows; ++row) {
    result.losses[row] = result.losses[row] / result.weights[row] + 0.0;  // -0 becomes 0
    const bool is_labelled =
        batch.labels[row] >= 0 && (targets == 0 || !std::isnan(batch.targets[row * targets]));
    if (is_labelled) continue;
    result.losses[row] = std::numeric_limits<double>::quiet_NaN();
    result.weights[row] = 0;
  }
  return result;
}

SEQTRAIN_SEPARATE at::Tensor AnyLoss::losses_of(const at::Tensor& logits,
                                                const tensor::Batch& batch) const {
  at::Tensor losses = detail::checked(losses_(logits, batch), logits.size(0), "loss");
  if (!logits.requires_grad() || !at::GradMode::is_enabled() || losses.requires_grad()) {
    return losses;
  }
  throw InputError{"returns numbers without a gradient",
                   {.object = "loss"},
                   "compute them from the logits by operators that autograd can differentiate"};
}

SEQTRAIN_SEPARATE at::Tensor AnyLoss::weights_of(const tensor::Batch& batch,
                                                 std::int64_t rows) const {
  at::Tensor weights = weights_ ? weights_(batch) : at::Tensor{};
  return weights.defined() ? detail::checked(std::move(weights), rows, "weight") : weights;
}

}  // namespace seqtrain::model
