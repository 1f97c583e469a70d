#pragma once

#include <memory>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/model/precision.hpp>

namespace seqtrain::model::cpu {

/// Weights of a layer, as `at::lstm` takes them: [4 · hidden, in], [4 · hidden, hidden] and
/// [4 · hidden] twice, gates in the order input, forget, candidate, output.
struct LstmTensors {
  at::Tensor input, hidden, bias_input, bias_hidden;
};

/// The hand-written forward and backward passes of LSTM layers, on the processor. It keeps their
/// memory from one batch to the next.
class Lstm {
 public:
  Lstm() = default;
  Lstm(const Lstm&) = delete;
  Lstm& operator=(const Lstm&) = delete;
  virtual ~Lstm() = default;

  /// Runs a layer over x [rows, steps, in], for autograd: returns the hidden states [rows, steps,
  /// hidden] and replaces `h` and `c` [rows, hidden] by the state after the last step, detached
  /// from autograd. All tensors are fp32. The result does not depend on the number of threads.
  virtual at::Tensor operator()(const at::Tensor& x, const LstmTensors& weights, at::Tensor& h,
                                at::Tensor& c) = 0;
};

/// Makes the passes with products in fp32 or bf16.
SEQTRAIN_SEPARATE std::shared_ptr<Lstm> make_lstm(Precision precision);

}  // namespace seqtrain::model::cpu

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/lstm.hpp>
#endif
