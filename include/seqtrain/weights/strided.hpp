#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace seqtrain::weights {

/// The layout of a tensor in a storage, in elements: neighbours in dimension i are strides[i]
/// apart.
struct Strided {
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape = {};
  std::vector<std::int64_t> strides = {};
};

/// Returns one more than the index of the last element of the storage that the tensor uses, or 0
/// for a tensor without elements. Returns nothing if the layout is invalid: a negative number, a
/// missing stride, a result of more than 63 bits.
inline std::optional<std::int64_t> extent(const Strided& layout) {
  if (layout.offset < 0 || layout.shape.size() != layout.strides.size()) return {};
  std::int64_t last = layout.offset;
  bool empty = false;
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    const auto size = layout.shape[i];
    const auto stride = layout.strides[i];
    if (size < 0 || stride < 0) return {};
    if (size == 0) empty = true;
    if (size <= 1 || stride == 0) continue;
    if (size - 1 > (std::numeric_limits<std::int64_t>::max() - 1 - last) / stride) return {};
    last += (size - 1) * stride;
  }
  return empty ? 0 : last + 1;
}

/// Tells whether the elements are stored row by row without gaps. The layout must have an `extent`.
inline bool contiguous(const Strided& layout) {
  if (std::ranges::count(layout.shape, 0) > 0) return true;
  std::int64_t expected = 1;
  for (std::size_t i = layout.shape.size(); i-- > 0;) {
    if (layout.shape[i] == 1) continue;
    if (layout.strides[i] != expected) return false;
    expected *= layout.shape[i];
  }
  return true;
}

/// Copies the elements to `out`, row by row. The storage must have `extent` elements, and `out`
/// must have room for all elements of the shape, which has at least one.
inline void gather(std::span<const std::byte> storage, const Strided& layout,
                   std::size_t element_size, std::span<std::byte> out) {
  std::vector<std::int64_t> index(layout.shape.size(), 0);
  std::int64_t at = layout.offset;
  for (std::size_t to = 0; to < out.size(); to += element_size) {
    std::memcpy(out.data() + to, storage.data() + static_cast<std::size_t>(at) * element_size,
                element_size);
    for (std::size_t i = index.size(); i-- > 0;) {  // the next index, its last dimension first
      if (index[i] + 1 < layout.shape[i]) {
        ++index[i];
        at += layout.strides[i];
        break;
      }
      at -= index[i] * layout.strides[i];
      index[i] = 0;
    }
  }
}

}  // namespace seqtrain::weights
