#pragma once

#include <cstddef>
#include <cstdint>
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

/// A dense row-major tensor whose bytes belong to somebody else. They may lie at any address, so
/// read them by `to_floats` or memcpy.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape = {};  ///< empty for a scalar
  std::span<const std::byte> bytes = {};
};

/// How many elements a tensor of this shape has; nothing where a dimension is negative or the
/// number is no 63-bit one.
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

/// Bytes that a tensor of this shape takes; nothing where `numel` has no answer or they overflow.
inline std::optional<std::uint64_t> byte_size(DType dtype, std::span<const std::int64_t> shape) {
  const auto count = numel(shape);
  const auto limit = std::numeric_limits<std::int64_t>::max();
  if (!count || *count > limit / static_cast<std::int64_t>(size_of(dtype))) return {};
  return static_cast<std::uint64_t>(*count) * size_of(dtype);
}

/// A shape as people write it: `[2, 384]`.
inline std::string to_string(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const auto size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

/// Throws `InputError` with `file` where two tensors have one name.
inline void check_names_differ(std::span<const TensorView> tensors, const std::string& file) {
  std::unordered_set<std::string_view> names;
  for (const auto& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      throw InputError{"named twice", {.object = file, .field = tensor.name}};
    }
  }
}

/// Throws `InputError` with `file` unless the tensors can be written to it: names that differ,
/// bytes that fit the shapes.
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

/// The tensor's numbers as floats. Throws `InputError` where they are not floating-point.
inline std::vector<float> to_floats(const TensorView& tensor) {
  if (!is_floating(tensor.dtype)) {
    throw InputError{"expected floating-point numbers, found " + std::string{name(tensor.dtype)},
                     {.object = tensor.name}};
  }
  std::vector<float> numbers(tensor.bytes.size() / size_of(tensor.dtype));
  to_floats(tensor.dtype, tensor.bytes, numbers);
  return numbers;
}

}  // namespace seqtrain::weights
