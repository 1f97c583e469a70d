#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::weights {

/// Copies of tensors in memory of their own. Assigning other tensors reuses the memory.
class TensorCopies {
 public:
  TensorCopies() = default;
  TensorCopies(TensorCopies&&) noexcept = default;
  TensorCopies& operator=(TensorCopies&&) noexcept = default;
  TensorCopies(const TensorCopies&) = delete;  // the views would refer to the other object
  TensorCopies& operator=(const TensorCopies&) = delete;
  ~TensorCopies() = default;

  void assign(std::span<const TensorView> tensors) {
    tensors_.assign(tensors.begin(), tensors.end());
    std::size_t size = 0;
    for (const TensorView& tensor : tensors) size += tensor.bytes.size();
    bytes_.resize(size);
    std::byte* place = bytes_.data();
    for (TensorView& tensor : tensors_) {
      if (!tensor.bytes.empty()) std::memcpy(place, tensor.bytes.data(), tensor.bytes.size());
      tensor.bytes = {place, tensor.bytes.size()};
      place += tensor.bytes.size();
    }
  }

  [[nodiscard]] bool empty() const { return tensors_.empty(); }
  [[nodiscard]] std::span<const TensorView> views() const { return tensors_; }

 private:
  std::vector<TensorView> tensors_;
  std::vector<std::byte> bytes_;
};

}  // namespace seqtrain::weights
