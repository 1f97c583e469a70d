#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace seqtrain::weights {

static_assert(std::endian::native == std::endian::little, "model files hold little-endian numbers");

/// The type of a tensor's elements in a file.
enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

namespace detail {

struct DTypeTraits {
  std::string_view name;
  std::size_t size;
  std::string_view storage;
};

inline constexpr std::array<DTypeTraits, 10> dtype_traits{{{"F64", 8, "torch.DoubleStorage"},
                                                           {"F32", 4, "torch.FloatStorage"},
                                                           {"F16", 2, "torch.HalfStorage"},
                                                           {"BF16", 2, "torch.BFloat16Storage"},
                                                           {"I64", 8, "torch.LongStorage"},
                                                           {"I32", 4, "torch.IntStorage"},
                                                           {"I16", 2, "torch.ShortStorage"},
                                                           {"I8", 1, "torch.CharStorage"},
                                                           {"U8", 1, "torch.ByteStorage"},
                                                           {"BOOL", 1, "torch.BoolStorage"}}};

constexpr std::optional<DType> dtype_with(std::string_view DTypeTraits::*member,
                                          std::string_view text) {
  for (std::size_t i = 0; i < dtype_traits.size(); ++i) {
    if (dtype_traits[i].*member == text) return static_cast<DType>(i);
  }
  return {};
}

template <class Stored, class Convert>
void convert_each(std::span<const std::byte> bytes, std::span<float> out, Convert convert) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored stored;  // by memcpy, because bytes in a file may lie at any address
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    out[i] = convert(stored);
  }
}

}  // namespace detail

/// Returns the name that safetensors uses: `F32`, `I64`, `BOOL`, ….
constexpr std::string_view name(DType dtype) {
  return detail::dtype_traits[static_cast<std::size_t>(dtype)].name;
}

/// Returns the number of bytes of an element.
constexpr std::size_t size_of(DType dtype) {
  return detail::dtype_traits[static_cast<std::size_t>(dtype)].size;
}

/// Tells whether numbers of the type have a fraction.
constexpr bool is_floating(DType dtype) {
  return dtype <= DType::bf16;
}

/// Returns the type with that name, or nothing if there is none.
constexpr std::optional<DType> dtype_named(std::string_view text) {
  return detail::dtype_with(&detail::DTypeTraits::name, text);
}

/// Returns the name of torch's storage class: `torch.FloatStorage`, ….
constexpr std::string_view storage_class(DType dtype) {
  return detail::dtype_traits[static_cast<std::size_t>(dtype)].storage;
}

/// Returns the type of the elements of a storage class, or nothing if there is no such class.
constexpr std::optional<DType> dtype_of_storage(std::string_view name) {
  return detail::dtype_with(&detail::DTypeTraits::storage, name);
}

/// Returns the exact value of an IEEE 754 binary16 number.
constexpr float half_to_float(std::uint16_t bits) {
  const auto sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // subnormal
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

/// Returns the exact value of a bfloat16 number, which is the upper half of a float.
constexpr float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Fills `out` with the numbers in `bytes`, which hold out.size() elements of a floating `dtype`.
/// F64 is rounded to the nearest float; all other types are exact.
inline void to_floats(DType dtype, std::span<const std::byte> bytes, std::span<float> out) {
  using detail::convert_each;
  if (dtype == DType::f32) {
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size_bytes());
  } else if (dtype == DType::f16) {
    convert_each<std::uint16_t>(bytes, out, half_to_float);
  } else if (dtype == DType::bf16) {
    convert_each<std::uint16_t>(bytes, out, bfloat_to_float);
  } else {
    convert_each<double>(bytes, out, [](double number) { return static_cast<float>(number); });
  }
}

}  // namespace seqtrain::weights
