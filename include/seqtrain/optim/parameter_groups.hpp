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

/// Returns factors for an encoder of transformers: 1 for the head and all else that comes after the
/// layers, `decay` for the last layer, and `decay` times less for each layer below it and for the
/// embeddings (Clark et al. 2020, section 3.2).
[[nodiscard]] inline LrFactors layerwise(std::span<const tensor::Parameter> parameters,
                                         double decay) {
  std::int64_t layers = 0;
  for (const auto& parameter : parameters) {
    layers = std::max(layers, tensor::layer_of(parameter.name).value_or(-1) + 1);
  }
  std::vector<std::vector<std::string>> groups(static_cast<std::size_t>(layers) + 2);
  for (const auto& parameter : parameters) {
    const auto has = [&](const char* part) {
      return parameter.name.find(part) != std::string::npos;
    };
    const bool after = has("classifier") || has("pooler") || has("head.") || has("final_norm");
    const auto group = tensor::layer_of(parameter.name).value_or(after ? layers : -1) + 1;
    groups[static_cast<std::size_t>(group)].push_back(parameter.name);
  }
  return discriminative(groups, 1 / decay);
}

/// Tells by a parameter's name whether decoupled weight decay applies to it. It applies to all but
/// biases and weights of layer normalizations. A model can override this by
/// `tensor::Parameter::decays`.
[[nodiscard]] constexpr bool decays(std::string_view name) {
  return !name.ends_with("bias") && name.find("LayerNorm") == std::string_view::npos &&
         name.find("layer_norm") == std::string_view::npos;
}

}  // namespace seqtrain::optim
