#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model::cpu {

/// Tells whether a linear map of the hand-written passes can have this many inputs or outputs.
[[nodiscard]] constexpr bool supports(std::int64_t size) {
  return size % static_cast<std::int64_t>(panel) == 0;
}

/// Tells whether the hand-written passes can compute layers of these sizes.
[[nodiscard]] inline bool supports(const weights::ModelConfig& config) {
  return supports(config.hidden_size) && supports(config.intermediate_size);
}

/// Returns the gradient of a parameter, or an undefined tensor if there is no such parameter.
[[nodiscard]] inline at::Tensor gradient_of(const at::Tensor& parameter) {
  return parameter.defined() ? parameter.grad() : at::Tensor{};
}

/// Returns one linear map that computes several maps of the same input. It shares their tensors.
template <class T>
[[nodiscard]] Linear<T> linear(
    std::initializer_list<std::reference_wrapper<const model::Linear>> maps) {
  std::vector<typename Linear<T>::Part> parts;
  for (const model::Linear& map : maps) {
    parts.push_back(
        {map.weight, map.bias, gradient_of(map.weight), gradient_of(map.bias), map.low_rank});
  }
  return Linear<T>{std::move(parts)};
}

/// Returns the tensors of a layer normalization.
[[nodiscard]] inline NormTensors norm(const LayerNorm& norm) {
  const at::Tensor beta = norm.bias.defined() ? norm.bias : at::zeros_like(norm.weight);
  return {norm.weight, beta, gradient_of(norm.weight), gradient_of(norm.bias), norm.eps};
}

/// Returns the table of an embedding. It records the rows of the gradient that it writes to.
[[nodiscard]] inline Table table(const Embedding& embedding) {
  const at::Tensor& rows = embedding.weight;
  const at::Tensor& gradient = rows.grad();
  Table table{rows, gradient, nullptr, embedding.padding_id};
  if (gradient.defined()) {
    table.touched = std::make_shared<tensor::RowSet>(static_cast<std::size_t>(rows.size(0)));
    table.touched->take_into_account(tensor::changes_of(gradient));
  }
  return table;
}

}  // namespace seqtrain::model::cpu
