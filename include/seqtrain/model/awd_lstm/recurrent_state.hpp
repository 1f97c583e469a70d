#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>

namespace seqtrain::model {

/// The state that the layers carry from one stretch of text to the next. A layer of an LSTM carries
/// h and c. A layer of a QRNN carries its hidden state as h and, if it looks back, its last input
/// as c. Each is [rows, size].
struct RecurrentState {
  struct Layer {
    at::Tensor h, c;
  };
  std::vector<Layer> layers;

  [[nodiscard]] std::int64_t rows() const { return layers.empty() ? 0 : layers[0].h.size(0); }

  /// Sets a row to zero in all layers if one of its numbers is not finite. Does not wait for a
  /// device.
  void clear_broken_rows() {
    std::vector<at::Tensor> all;
    for (const Layer& layer : layers) all.insert(all.end(), {layer.h, layer.c});
    const at::Tensor broken = at::isfinite(at::cat(all, 1)).all(1, /*keepdim=*/true).logical_not();
    for (Layer& layer : layers) {
      layer = {layer.h.masked_fill(broken, 0), layer.c.masked_fill(broken, 0)};
    }
  }
};

}  // namespace seqtrain::model
