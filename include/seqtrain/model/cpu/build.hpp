#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/model/cpu/encoder.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model::cpu {

/// Tells whether there are kernels for layers of these sizes.
[[nodiscard]] inline bool supports(const weights::ModelConfig& config) {
  constexpr std::int64_t unit = panel;
  return config.hidden_size % unit == 0 && config.intermediate_size % unit == 0;
}

/// Returns the activation that config.json calls by this name. The name is one that
/// `model::activation` knows.
[[nodiscard]] inline ActivationKind activation_kind(std::string_view name) {
  if (name == "gelu") return ActivationKind::gelu;
  return name == "relu" ? ActivationKind::relu : ActivationKind::gelu_new;
}

/// Returns one linear map that computes several maps of the same input. It shares their tensors.
template <class T>
[[nodiscard]] Linear<T> linear(
    std::initializer_list<std::reference_wrapper<const model::Linear>> maps) {
  std::vector<typename Linear<T>::Part> parts;
  for (const model::Linear& map : maps) {
    parts.push_back({map.weight, map.bias, map.weight.grad(), map.bias.grad()});
  }
  return Linear<T>{std::move(parts)};
}

/// Returns the tensors of a layer normalization.
[[nodiscard]] inline NormTensors norm(const LayerNorm& norm) {
  return {norm.weight, norm.bias, norm.weight.grad(), norm.bias.grad(), norm.eps};
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
