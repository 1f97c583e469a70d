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

/// Discriminative learning rates: the last group's factor is 1, that of each group before another
/// is smaller by `ratio` (Howard and Ruder 2018, section 3.2).
[[nodiscard]] inline LrFactors discriminative(std::span<const std::vector<std::string>> groups,
                                              double ratio = 2.6) {
  LrFactors factors;
  double factor = 1;
  for (std::size_t group = groups.size(); group-- > 0; factor /= ratio) {
    for (const auto& name : groups[group]) factors[name] = factor;
  }
  return factors;
}

/// Learning rates as fastai's `slice(lr)` sets them: the last group's factor is 1, that of all others
/// `ratio`.
[[nodiscard]] inline LrFactors last_group_first(std::span<const std::vector<std::string>> groups,
                                                double ratio = 0.1) {
  LrFactors factors;
  for (const auto& group : groups) {
    for (const auto& name : group) factors[name] = &group == &groups.back() ? 1 : ratio;
  }
  return factors;
}

/// Whether decoupled weight decay applies to the parameter of this name: to all but biases and the
/// weights of layer normalisations, as in the training of BERT and RoBERTa.
[[nodiscard]] constexpr bool decays(std::string_view name) {
  return !name.ends_with("bias") && name.find("LayerNorm") == std::string_view::npos &&
         name.find("layer_norm") == std::string_view::npos;
}

}  // namespace seqtrain::optim
