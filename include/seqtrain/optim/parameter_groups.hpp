#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

/// Factors on the learning rate by parameters' names.
using LrFactors = std::map<std::string, double, std::less<>>;

/// Returns factors for discriminative learning rates: 1 for the last group, and `ratio` times less
/// for each group before it (Howard and Ruder 2018, section 3.2).
[[nodiscard]] inline LrFactors discriminative(std::span<const std::vector<std::string>> groups,
                                              double ratio = 2.6) {
  LrFactors factors;
  double factor = 1;
  for (std::size_t group = groups.size(); group-- > 0; factor /= ratio) {
    for (const auto& name : groups[group]) factors[name] = factor;
  }
  return factors;
}

/// Tells whether a model says which of its parameters are its head. One that does not, such as a
/// torch::nn::Module, gives all of them the depth of a head.
[[nodiscard]] inline bool tells_head(std::span<const tensor::Parameter> parameters) {
  return std::ranges::any_of(parameters, [](const auto& parameter) {
    return parameter.depth.part != tensor::Depth::Part::head;
  });
}

/// Returns the factors that fastai's `slice(lr)` sets: 1 for the last group and `ratio` for all
/// others.
[[nodiscard]] inline LrFactors last_group_first(std::span<const std::vector<std::string>> groups,
                                                double ratio = 0.1) {
  LrFactors factors;
  for (const auto& group : groups) {
    for (const auto& name : group) factors[name] = &group == &groups.back() ? 1 : ratio;
  }
  return factors;
}

/// Returns factors by the parameters' depth: `head` for the head and all else that comes after the
/// layers, `decay` for the last layer, and `decay` times less for each layer below it and for the
/// embeddings (Clark et al. 2020, section 3.2).
[[nodiscard]] inline LrFactors layerwise(std::span<const tensor::Parameter> parameters,
                                         double decay, double head = 1) {
  using Part = tensor::Depth::Part;
  std::int64_t layers = 0;
  for (const auto& parameter : parameters) {
    if (parameter.depth.part == Part::layer) layers = std::max(layers, parameter.depth.layer + 1);
  }
  std::vector<std::vector<std::string>> groups(static_cast<std::size_t>(layers) + 2);
  for (const auto& parameter : parameters) {
    const auto [part, layer] = parameter.depth;
    const auto group = part == Part::embedding ? 0 : part == Part::layer ? layer + 1 : layers + 1;
    groups[static_cast<std::size_t>(group)].push_back(parameter.name);
  }
  LrFactors factors = discriminative(groups, 1 / decay);
  for (const auto& name : groups.back()) factors[name] = head;
  return factors;
}

/// Tells whether decoupled weight decay applies to a parameter. It applies to all but biases,
/// scales of normalizations and numbers for distances. A parameter without a role is judged by its
/// name.
[[nodiscard]] inline bool decays(const tensor::Parameter& parameter) {
  using tensor::Role;
  if (parameter.role) return parameter.role == Role::weight || parameter.role == Role::words;
  const std::string_view name = parameter.name;
  return !name.ends_with("bias") && name.find("LayerNorm") == std::string_view::npos &&
         name.find("layer_norm") == std::string_view::npos;
}

}  // namespace seqtrain::optim
