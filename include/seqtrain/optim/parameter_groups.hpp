#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Tells by a parameter's name whether decoupled weight decay applies to it. It applies to all but
/// biases and weights of layer normalizations. A model can override this by
/// `tensor::Parameter::decays`.
[[nodiscard]] constexpr bool decays(std::string_view name) {
  return !name.ends_with("bias") && name.find("LayerNorm") == std::string_view::npos &&
         name.find("layer_norm") == std::string_view::npos;
}

}  // namespace seqtrain::optim
