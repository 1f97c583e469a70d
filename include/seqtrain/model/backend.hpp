#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/full_like.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::model {

/// Returns the mean loss of logits [rows, labels], or an undefined tensor if the step ends before
/// the backward pass.
using LossOfLogits = std::function<at::Tensor(const at::Tensor& logits, const tensor::Batch&)>;

/// The inputs of a training step.
struct StepInputs {
  const data::Batch& batch;
  double weight;          ///< the batch's weight in a mean over several batches
  random::Stream stream;  ///< decides dropout
  const LossOfLogits& loss;
  /// The function, if any, that is called with i when the gradients of the parameters from number i
  /// on, except late ones, are complete or, on a device, queued, while those of earlier layers are
  /// still computed.
  const std::function<void(std::size_t)>& ready;
  const tensor::LossScale* loss_scale = nullptr;  ///< the factor of the gradients, if any
};

/// Computes the forward and backward passes of a classifier.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Adds weight · d(mean loss)/dp to the gradient of each parameter p, times the loss scale.
  /// Returns the mean loss. Does only the forward pass, with dropout, if the loss is undefined.
  virtual at::Tensor accumulate(const StepInputs& step) = 0;

  /// Returns logits [rows, labels], in evaluation mode and without gradients. If rows have
  /// adapters, there are as many columns as the head with the most labels has.
  virtual at::Tensor logits(const data::Batch& batch) = 0;

  /// Returns the hidden states that the head takes, fp32, in evaluation mode and without gradients:
  /// [rows, hidden], or [rows, width, hidden] if `OwnHead` says so. Throws `InputError` if the
  /// backend reads windows.
  virtual at::Tensor hidden(const data::Batch& batch) = 0;

  /// Returns `logits`, and sets `deciding` to the window of each row that decided; empty if this
  /// backend reads no windows.
  virtual at::Tensor logits_by_window(const data::Batch& batch,
                                      std::vector<text::DecidingWindow>& deciding) {
    deciding.clear();
    return logits(batch);
  }

  /// Takes an adapter of the same base, which rows have by the next number from 1 on. Returns false
  /// if this backend does not compute several adapters.
  virtual bool add_adapter([[maybe_unused]] std::unique_ptr<Network> adapter,
                           [[maybe_unused]] Precision precision) {
    return false;
  }

 protected:
  /// Computes the loss and runs autograd from it if it is defined.
  static at::Tensor loss_and_backward(const StepInputs& step, const at::Tensor& logits,
                                      const tensor::Batch& input) {
    at::Tensor loss = step.loss(logits, input);
    if (!loss.defined()) return loss;
    const at::Tensor weight = at::full_like(loss, step.weight);
    loss.backward(step.loss_scale == nullptr ? weight : weight.mul(step.loss_scale->value));
    return loss;
  }
};

}  // namespace seqtrain::model
