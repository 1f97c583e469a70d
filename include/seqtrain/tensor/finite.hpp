#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::tensor {

/// Returns one bool on the tensors' device: whether each number that is finite in `before` is
/// finite in `after`. The call does not wait for the device. There must be at least one tensor.
[[nodiscard]] inline at::Tensor stays_finite(at::TensorList before, at::TensorList after) {
  at::Tensor result;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const at::Tensor good =
        at::isfinite(before[i]).logical_not().logical_or(at::isfinite(after[i])).all();
    result = result.defined() ? result.logical_and(good) : good;
  }
  return result;
}

/// Returns pass(). If a number in one of the tensors was finite before and is not afterwards, all
/// those of floating-point numbers get their numbers from before. It does not wait for the device.
template <class Pass>
[[nodiscard]] at::Tensor keep_finite(at::TensorList tensors, const Pass& pass) {
  std::vector<at::Tensor> changing, before;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.is_floating_point()) continue;
    changing.push_back(tensor);
    before.push_back(tensor.detach().clone());
  }
  const at::Tensor result = pass();
  if (changing.empty()) return result;
  const at::NoGradGuard no_gradients;
  const at::Tensor good = stays_finite(before, changing);
  for (std::size_t i = 0; i < changing.size(); ++i) {
    changing[i].copy_(at::where(good, changing[i], before[i]));
  }
  return result;
}

/// Throws `InputError` if a tensor on the processor, which is called `name` in `file`, holds NaN.
/// Infinite numbers are allowed: a bias of minus infinity switches a label off. It reads the
/// numbers once.
inline void refuse_nan(const at::Tensor& tensor, const std::string& file, const std::string& name) {
  const at::NoGradGuard no_gradients;
  const OneThread one_thread;
  // A sum is NaN if a number is, but also for other reasons, such as infinite numbers.
  if (std::isfinite(at::sum(tensor).item<float>())) return;
  if (!at::isnan(tensor).any().item<bool>()) return;
  throw InputError{"holds NaN, which is not a number",
                   {.object = file, .field = name},
                   "the file is damaged, or training failed before it was saved; take another"};
}

}  // namespace seqtrain::tensor
