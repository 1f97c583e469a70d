#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>

#include <seqtrain/model/awd_lstm/recurrent_state.hpp>

namespace seqtrain::model {

/// Runs a quasi-recurrent layer (Bradbury et al. 2017) over x [rows, width, in] and returns [rows,
/// width, out]: h_t = f_t · z_t + (1 - f_t) · h_(t-1), times an output gate. z, f and the gate are
/// functions of x_t and, if the layer looks back, of x_(t-1). `weight` is [3 · out, in], or [3 ·
/// out, 2 · in] for a layer that looks back. Replaces `state`, the state before the first word, by
/// the state after the last word, detached from autograd.
inline at::Tensor qrnn(const at::Tensor& x, RecurrentState::Layer& state, const at::Tensor& weight,
                       const at::Tensor& bias) {
  const bool looks_back = weight.size(1) == 2 * x.size(2);
  at::Tensor source = x;
  if (looks_back) {
    source = at::cat({x, at::cat({state.c.unsqueeze(1), x.slice(1, 0, -1)}, 1)}, 2);
    state.c = x.select(1, -1).detach();
  }
  const auto gates = at::linear(source, weight, bias).chunk(3, 2);
  const at::Tensor forget = at::sigmoid(gates[1]);
  const at::Tensor taken = at::tanh(gates[0]).mul(forget), kept = forget.neg().add(1);
  std::vector<at::Tensor> hidden;
  at::Tensor h = state.h;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    h = taken.select(1, t).add(kept.select(1, t).mul(h));
    hidden.push_back(h);
  }
  state.h = h.detach();
  return at::sigmoid(gates[2]).mul(at::stack(hidden, 1));
}

}  // namespace seqtrain::model
