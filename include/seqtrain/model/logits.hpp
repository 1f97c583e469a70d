#pragma once

#include <ATen/core/Tensor.h>

#include <seqtrain/metrics/logits.hpp>

namespace seqtrain::model {

/// Copies logits [rows, labels] from their device.
[[nodiscard]] inline metrics::Logits to_host(const at::Tensor& logits) {
  const at::Tensor host = logits.to(at::kCPU, at::kFloat).contiguous();
  return Eigen::Map<const metrics::Logits>{host.const_data_ptr<float>(), host.size(0),
                                           host.size(1)};
}

}  // namespace seqtrain::model
