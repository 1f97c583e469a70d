#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/model/precision.hpp>

namespace seqtrain::model::cpu {

/// The hand-written passes of a decoder of words and its loss, on the processor. It keeps their
/// memory from one batch to the next.
class WordLoss {
 public:
  WordLoss() = default;
  WordLoss(const WordLoss&) = delete;
  WordLoss& operator=(const WordLoss&) = delete;
  virtual ~WordLoss() = default;

  /// Returns the mean cross-entropy of logits x weight^T + bias, for autograd, with x [words, in],
  /// weight [vocabulary, in] and one label per word. All tensors are fp32. Only a part of the
  /// logits is in memory at a time. The forward pass also computes the gradients if they are
  /// enabled. The result does not depend on the number of threads.
  virtual at::Tensor operator()(const at::Tensor& x, const at::Tensor& weight,
                                const at::Tensor& bias, std::span<const std::int64_t> labels) = 0;
};

/// Makes the passes with products in fp32 or bf16.
SEQTRAIN_SEPARATE std::unique_ptr<WordLoss> make_word_loss(Precision precision);

}  // namespace seqtrain::model::cpu

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/word_loss.hpp>
#endif
