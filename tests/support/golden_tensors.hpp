#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::tests {

/// Returns the elements of a tensor of any dtype as numbers, without rounding.
inline std::vector<double> elements(const weights::TensorView& tensor) {
  using weights::DType;
  const auto as = [&tensor]<class T>(T) {
    std::vector<double> result;
    for (std::size_t at = 0; at < tensor.bytes.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, tensor.bytes.data() + at, sizeof element);
      result.push_back(static_cast<double>(element));
    }
    return result;
  };
  switch (tensor.dtype) {
    case DType::f64:
      return as(double{});
    case DType::i64:
      return as(std::int64_t{});
    case DType::i32:
      return as(std::int32_t{});
    case DType::i16:
      return as(std::int16_t{});
    case DType::i8:
      return as(std::int8_t{});
    case DType::u8:
    case DType::boolean:
      return as(std::uint8_t{});
    default:
      break;
  }
  const auto floats = weights::to_floats(tensor);
  return {floats.begin(), floats.end()};
}

/// Returns torch's name of a dtype: float32, bool, ….
inline std::string_view torch_name(weights::DType dtype) {
  constexpr std::string_view names[] = {"float64", "float32", "float16", "bfloat16", "int64",
                                        "int32",   "int16",   "int8",    "uint8",    "bool"};
  return names[static_cast<std::size_t>(dtype)];
}

/// Expects exactly the tensors that the golden JSON file describes.
inline void expect_golden(std::span<const weights::TensorView> tensors,
                          const std::filesystem::path& golden) {
  const auto document = json::Document::load(golden);
  ASSERT_EQ(tensors.size(), document.root().members().size());
  for (const auto& tensor : tensors) {
    const auto expected = document.root().at(tensor.name);
    EXPECT_EQ(torch_name(tensor.dtype), expected.at("dtype").string()) << tensor.name;
    std::vector<std::int64_t> shape;
    for (const auto& size : expected.at("shape").items()) shape.push_back(size.integer());
    EXPECT_EQ(tensor.shape, shape) << tensor.name;
    std::vector<double> values;
    for (const auto& value : expected.at("values").items()) {
      values.push_back(value.is_boolean() ? value.boolean() : value.number());
    }
    EXPECT_EQ(elements(tensor), values) << tensor.name;
  }
}

}  // namespace seqtrain::tests
