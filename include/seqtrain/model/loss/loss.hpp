#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/separate_compilation.hpp>
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

  explicit operator double() const;

  [[nodiscard]] const at::Tensor& tensor() const { return value_; }

 private:
  at::Tensor value_;
};

/// The loss of a classifier, which training makes small. It is called with logits [rows, labels],
/// fp32, and a batch, and returns the loss of each row, [rows], by operators that autograd can
/// differentiate. It reads the batch's `labels` or `targets`; in an evaluation the batch has no
/// other members. `tensor/operators.hpp` has the operators + - * / and [] of tensors.
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
  [[nodiscard]] at::Tensor mean(const at::Tensor& logits, const tensor::Batch& batch) const;

  /// Returns the weight of a batch in a mean over several batches.
  [[nodiscard]] double weight_of(const data::Batch& batch) const;

  /// Returns the losses of rows with these logits [rows, labels]. Throws as `mean` does.
  [[nodiscard]] metrics::RowLosses rows(const metrics::Logits& logits,
                                        const data::Batch& batch) const;

 private:
  [[nodiscard]] at::Tensor losses_of(const at::Tensor& logits, const tensor::Batch& batch) const;

  /// Returns the weights of the rows, or an undefined tensor if all are 1.
  [[nodiscard]] at::Tensor weights_of(const tensor::Batch& batch, std::int64_t rows) const;

  std::function<at::Tensor(const at::Tensor&, const tensor::Batch&)> losses_;
  std::function<at::Tensor(const tensor::Batch&)> weights_;
};

}  // namespace seqtrain::model

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/loss.hpp>
#endif
