#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/rotary.hpp>
#include <seqtrain/model/cpu/embeddings.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/only_by_operators.hpp>
#include <seqtrain/model/nn/rope.hpp>
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
    parts.push_back({map.weight, map.bias, gradient_of(map.weight), gradient_of(map.bias),
                     map.low_rank, map.transposed});
  }
  return PackedLinear<T>{std::move(parts)};
}

/// Returns the tensors of a norm.
[[nodiscard]] inline NormTensors norm(const LayerNorm& norm) {
  if (norm.kind == LayerNorm::Kind::nothing) return {};
  const at::Tensor beta = norm.bias.defined() ? norm.bias : at::zeros_like(norm.weight);
  return {norm.weight,
          beta,
          gradient_of(norm.weight),
          gradient_of(norm.bias),
          norm.eps,
          norm.kind == LayerNorm::Kind::mean_and_variance,
          norm.offset};
}

/// Returns the tensors of a norm, if there is one.
[[nodiscard]] inline std::optional<NormTensors> norm(const std::optional<LayerNorm>& of) {
  return of ? std::optional{norm(*of)} : std::nullopt;
}

/// Returns the angles by which layers of one form rotate, or null if they rotate nothing.
[[nodiscard]] inline std::shared_ptr<kernels::RotaryAngles> rotary_angles(const Rope& rope,
                                                                          std::int64_t head_size) {
  if (rope.base == 0) return nullptr;
  const auto columns = static_cast<std::size_t>(head_size);
  const auto size = static_cast<std::size_t>(rotated_size(rope, head_size));
  auto result =
      rope.scaling == Rope::Scaling::none
          ? std::make_shared<kernels::RotaryAngles>(rope.base, size, columns)
          : std::make_shared<kernels::RotaryAngles>(angles(rope, size), rope.magnitude, columns);
  if (rope.neighbours) result->pair_neighbours();
  return result;
}

/// Tells whether there are kernels for the sizes of a layer.
[[nodiscard]] inline bool has_supported_sizes(const LayerParts& layer) {
  const auto fits = [](const Linear& linear) {
    return supports(linear.weight.size(0)) && supports(linear.weight.size(1));
  };
  const auto norm_fits = [](const std::optional<LayerNorm>& norm) {
    return !norm || norm->weight.size(0) % static_cast<std::int64_t>(kernels::lanes) == 0;
  };
  return norm_fits(layer.query_norm) && norm_fits(layer.key_norm) &&
         std::ranges::all_of(layer.qkv, fits) && fits(layer.attention_output) && fits(layer.output);
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

/// Returns an encoder of these embeddings and layers for the hand-written backend, or nothing if it
/// does not compute them.
template <class T>
[[nodiscard]] std::optional<EncoderParts<T>> encoder(Embeddings embeddings,
                                                     const EncoderLayers& all) {
  if (!only_by_operators(all).empty()) return {};
  if (all.first_norm && all.first_norm->kind != LayerNorm::Kind::nothing) {
    embeddings.first_norm = norm(*all.first_norm);
  }
  EncoderParts<T> result{.embeddings = std::move(embeddings),
                         .layers = {},
                         .order = all.order,
                         .dropout = all.dropout,
                         .pooling = all.mean_pooling ? Pooling::mean : Pooling::first_token};
  if (all.last_pooling) result.pooling = Pooling::last_token;
  std::vector<std::pair<Rope, std::shared_ptr<kernels::RotaryAngles>>> ropes;
  for (const LayerParts& parts : all.layers) {
    if (!has_supported_sizes(parts)) return {};
    const Rope& rope = parts.traits.rope;
    auto of_layer = std::ranges::find(ropes, rope, [](const auto& one) { return one.first; });
    if (of_layer == ropes.end()) {
      of_layer = ropes.insert(ropes.end(), {rope, rotary_angles(rope, head_size(parts))});
    }
    std::vector<Linear> intermediate{parts.intermediate};
    if (parts.gate) intermediate.push_back(*parts.gate);
    result.layers.push_back({parts.traits, linear<T>(parts.qkv),
                             linear<T>({parts.attention_output}), linear<T>(intermediate),
                             linear<T>({parts.output}), norm(parts.norm1), norm(parts.norm2),
                             of_layer->second, norm(parts.query_norm), norm(parts.key_norm),
                             norm(parts.attention_result_norm), norm(parts.result_norm)});
  }
  return result;
}

}  // namespace seqtrain::model::cpu
