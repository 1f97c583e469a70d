#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/kernels/rotary.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/only_by_operators.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::model::cpu {

/// Tells whether a linear layer of the hand-written backend can have this many inputs or outputs.
[[nodiscard]] constexpr bool supports(std::int64_t size) {
  return size % static_cast<std::int64_t>(panel) == 0;
}

/// Returns the gradient of a parameter, or an undefined tensor if there is no such parameter.
[[nodiscard]] inline at::Tensor gradient_of(const at::Tensor& parameter) {
  return parameter.defined() ? parameter.grad() : at::Tensor{};
}

/// Returns one linear layer that computes several linear layers of the same input. It shares their
/// tensors.
template <class T>
[[nodiscard]] PackedLinear<T> linear(const std::vector<model::Linear>& maps) {
  std::vector<typename PackedLinear<T>::Part> parts;
  for (const model::Linear& map : maps) {
    parts.push_back(
        {map.weight, map.bias, gradient_of(map.weight), gradient_of(map.bias), map.low_rank});
  }
  return PackedLinear<T>{std::move(parts)};
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

/// Returns an encoder of these embeddings and layers for the hand-written backend, or nothing if
/// there are no kernels for its sizes.
template <class T>
[[nodiscard]] std::optional<EncoderParts<T>> encoder(Embeddings embeddings,
                                                     const EncoderLayers& all) {
  if (!only_by_operators(all).empty()) return {};
  EncoderParts<T> result{.embeddings = std::move(embeddings),
                         .layers = {},
                         .order = all.order,
                         .dropout = all.dropout,
                         .pooling = all.mean_pooling ? Pooling::mean : Pooling::first_token};
  std::map<double, std::shared_ptr<kernels::RotaryAngles>> angles;
  for (const LayerParts& parts : all.layers) {
    const std::int64_t hidden = parts.output.weight.size(0);
    if (!supports(hidden) || !supports(parts.output.weight.size(1))) return {};
    const double base = parts.traits.rope.base;
    auto& rotary = angles[base];
    if (base > 0 && !rotary) {
      const std::size_t size = static_cast<std::size_t>(hidden) / parts.traits.heads;
      rotary = std::make_shared<kernels::RotaryAngles>(base, size);
    }
    result.layers.push_back({parts.traits, linear<T>(parts.qkv),
                             linear<T>({parts.attention_output}), linear<T>({parts.intermediate}),
                             linear<T>({parts.output}), norm(parts.norm1), norm(parts.norm2),
                             rotary});
  }
  return result;
}

}  // namespace seqtrain::model::cpu
