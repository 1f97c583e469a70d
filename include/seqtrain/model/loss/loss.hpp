#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/tensor/batch.hpp>

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

/// The loss of a classifier, which training makes small. It is called with logits [rows, labels],
/// fp32, and a batch, and returns the loss of each row, [rows], by operators that autograd can
/// differentiate. It reads the batch's `labels` or `targets`; in an evaluation the batch has no
/// other members.
template <class L>
concept Loss = std::copy_constructible<L> &&
    requires(const L& loss, const at::Tensor& logits, const tensor::Batch& batch) {
  { loss(logits, batch) } -> std::convertible_to<at::Tensor>;
};

/// A loss with a weighted mean. The losses that it returns are already multiplied by their rows'
/// weights, which `weights` returns, [rows], fp32; an undefined tensor means that all are 1.
template <class L>
concept WeightedLoss = Loss<L> && requires(const L& loss, const tensor::Batch& batch) {
  { loss.weights(batch) } -> std::convertible_to<at::Tensor>;
};

namespace detail {

/// Fails to compile, with one plain sentence, unless the type is a `Loss` whose `weights`, if it
/// has any, make it a `WeightedLoss`.
template <class L>
consteval void check_loss() {
  constexpr bool is_called = requires(L & loss, const at::Tensor& x, const tensor::Batch& batch) {
    loss(x, batch);
  };
  constexpr bool is_called_const =
      requires(const L& loss, const at::Tensor& x, const tensor::Batch& batch) {
    loss(x, batch);
  };
  constexpr bool has_weights = requires(L & loss, const tensor::Batch& batch) {
    loss.weights(batch);
  }
  || requires {
    requires std::is_member_function_pointer_v<decltype(&L::weights)>;
  };
  static_assert(std::copy_constructible<L>, "the loss cannot be copied");
  static_assert(
      is_called,
      "the loss is not called as loss(const at::Tensor& logits, const tensor::Batch& batch)");
  static_assert(!is_called || is_called_const,
                "the loss's operator()(logits, batch) must be const");
  static_assert(
      !is_called_const || !std::copy_constructible<L> || Loss<L>,
      "the loss's operator()(logits, batch) does not return an at::Tensor, the loss of each row");
  static_assert(!Loss<L> || !has_weights || WeightedLoss<L>,
                "the loss's weights(const tensor::Batch&) must be const and return an at::Tensor");
}

}  // namespace detail

/// Holds a `Loss` of any class. The training step, the loss of an evaluation and the losses of its
/// examples are computed here.
class AnyLoss {
 public:
  template <class L>
  requires(!std::same_as<L, AnyLoss>) AnyLoss(L loss) {  // NOLINT(google-explicit-constructor)
    detail::check_loss<L>();
    if constexpr (Loss<L>) {
      losses_ = [loss](const at::Tensor& logits, const tensor::Batch& batch) -> at::Tensor {
        return loss(logits, batch);
      };
    }
    if constexpr (WeightedLoss<L>) {
      weights_ = [loss](const tensor::Batch& batch) -> at::Tensor { return loss.weights(batch); };
    }
  }

  /// Returns the mean loss of logits [rows, labels], a scalar. Throws `InputError` if the loss does
  /// not return one number for each row, or if autograd cannot differentiate it though the logits
  /// have gradients.
  [[nodiscard]] at::Tensor mean(const at::Tensor& logits, const tensor::Batch& batch) const {
    const at::Tensor losses = losses_of(logits, batch);
    const at::Tensor weights = weights_of(batch, logits.size(0));
    return weights.defined() ? losses.sum() / weights.sum() : losses.mean();
  }

  /// Returns the weight of a batch in a mean over several batches.
  [[nodiscard]] double weight_of(const data::Batch& batch) const {
    const at::Tensor weights = weights_of(tensor::labels_of(batch), batch.rows);
    if (!weights.defined()) return static_cast<double>(batch.rows);
    return weights.sum(at::kDouble).item<double>();
  }

  /// Returns the losses of rows with these logits [rows, labels]. Throws as `mean` does.
  [[nodiscard]] metrics::RowLosses rows(const metrics::Logits& logits,
                                        const data::Batch& batch) const {
    const at::NoGradGuard no_gradients;
    const at::Tensor x =
        at::from_blob(const_cast<float*>(logits.data()), {logits.rows(), logits.cols()});
    tensor::Batch labels = tensor::labels_of(batch);
    labels.labels.clamp_min_(0);  // a row without a label has -1, and targets of NaN
    if (labels.targets.defined()) labels.targets.nan_to_num_(0);
    metrics::RowLosses result{.losses = numbers(losses_of(x, labels))};
    const at::Tensor weights = weights_of(labels, logits.rows());
    const std::size_t rows = result.losses.size();
    result.weights = weights.defined() ? numbers(weights) : std::vector<double>(rows, 1);
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

 private:
  [[nodiscard]] at::Tensor losses_of(const at::Tensor& logits, const tensor::Batch& batch) const {
    at::Tensor losses = checked(losses_(logits, batch), logits.size(0), "loss");
    if (!logits.requires_grad() || !at::GradMode::is_enabled() || losses.requires_grad()) {
      return losses;
    }
    throw InputError{"returns numbers without a gradient",
                     {.object = "loss"},
                     "compute them from the logits by operators that autograd can differentiate"};
  }

  /// Returns the weights of the rows, or an undefined tensor if all are 1.
  [[nodiscard]] at::Tensor weights_of(const tensor::Batch& batch, std::int64_t rows) const {
    at::Tensor weights = weights_ ? weights_(batch) : at::Tensor{};
    return weights.defined() ? checked(std::move(weights), rows, "weight") : weights;
  }

  static at::Tensor checked(at::Tensor numbers, std::int64_t rows, const std::string& what) {
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
    throw InputError{"must return the " + what + " of each of " + std::to_string(rows) +
                         " rows, floating-point numbers of the shape [" + std::to_string(rows) +
                         "], but returns " + form.str(),
                     {.object = "loss"},
                     "take the mean over the labels only"};
  }

  static std::vector<double> numbers(const at::Tensor& tensor) {
    const at::Tensor wide = tensor.to(at::kDouble).contiguous();
    const auto* const first = wide.const_data_ptr<double>();
    return {first, first + wide.numel()};
  }

  std::function<at::Tensor(const at::Tensor&, const tensor::Batch&)> losses_;
  std::function<at::Tensor(const tensor::Batch&)> weights_;
};

}  // namespace seqtrain::model
