#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/weights/dtype.hpp>

namespace seqtrain::weights {

/// A dense row-major tensor whose bytes belong to another object. The bytes may be unaligned, so
/// read them by `to_floats`, `as_floats` or memcpy.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape = {};  ///< empty for a scalar
  std::span<const std::byte> bytes = {};
};

/// Returns the number of elements of a shape, or nothing if a dimension is negative or the number
/// has more than 63 bits.
inline std::optional<std::int64_t> numel(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (const auto size : shape) {
    if (size < 0) return {};
    if (size == 0) empty = true;
  }
  if (empty) return 0;
  for (const auto size : shape) {
    if (count > std::numeric_limits<std::int64_t>::max() / size) return {};
    count *= size;
  }
  return count;
}

/// Returns the number of bytes of a tensor, or nothing if `numel` returns nothing or the number
/// overflows.
inline std::optional<std::uint64_t> byte_size(DType dtype, std::span<const std::int64_t> shape) {
  const auto count = numel(shape);
  const auto limit = std::numeric_limits<std::int64_t>::max();
  if (!count || *count > limit / static_cast<std::int64_t>(size_of(dtype))) return {};
  return static_cast<std::uint64_t>(*count) * size_of(dtype);
}

/// Returns a shape as people write it: `[2, 384]`. Of more than 8 dimensions it has the first 8 and
/// their number.
inline std::string to_string(std::span<const std::int64_t> shape) {
  constexpr std::size_t most = 8;
  std::string text = "[";
  for (const auto size : shape.first(std::min(shape.size(), most))) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  if (shape.size() <= most) return text + "]";
  return text + ", …] (" + std::to_string(shape.size()) + " dimensions)";
}

/// Throws `InputError` with `file` if two tensors have the same name.
inline void check_names_differ(std::span<const TensorView> tensors, const std::string& file) {
  std::unordered_set<std::string_view> names;
  for (const auto& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      throw InputError{"named twice", {.object = file, .field = tensor.name}};
    }
  }
}

/// Throws `InputError` with `file` unless all names differ and all bytes fit the shapes.
inline void check_consistent(std::span<const TensorView> tensors, const std::string& file) {
  check_names_differ(tensors, file);
  for (const auto& tensor : tensors) {
    if (byte_size(tensor.dtype, tensor.shape) != tensor.bytes.size()) {
      throw InputError{std::to_string(tensor.bytes.size()) + " bytes do not fit shape " +
                           to_string(tensor.shape) + " of " + std::string{name(tensor.dtype)},
                       {.object = file, .field = tensor.name}};
    }
  }
}

/// Returns the tensor's numbers where they lie, or nothing if they are not of type f32 or not
/// aligned as floats are.
inline std::optional<std::span<const float>> as_floats(const TensorView& tensor) {
  const auto* const bytes = tensor.bytes.data();
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes) % alignof(float) == 0;
  if (tensor.dtype != DType::f32 || !aligned) return {};
  return std::span{reinterpret_cast<const float*>(bytes), tensor.bytes.size() / sizeof(float)};
}

/// Returns the tensor's numbers as floats. Throws `InputError` if its type is not floating-point.
inline std::vector<float> to_floats(const TensorView& tensor) {
  if (!is_floating(tensor.dtype)) {
    throw InputError{"expected floating-point numbers, found " + std::string{name(tensor.dtype)},
                     {.object = tensor.name}};
  }
  std::vector<float> numbers(tensor.bytes.size() / size_of(tensor.dtype));
  to_floats(tensor.dtype, tensor.bytes, numbers);
  return numbers;
}

/// Copies of tensors in memory of their own. Assigning other tensors reuses the memory.
class TensorCopies {
 public:
  TensorCopies() = default;
  TensorCopies(TensorCopies&&) noexcept = default;
  TensorCopies& operator=(TensorCopies&&) noexcept = default;
  TensorCopies(const TensorCopies&) = delete;  // the views would refer to the other object
  TensorCopies& operator=(const TensorCopies&) = delete;
  ~TensorCopies() = default;

  /// Copies tensors.
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
