#pragma once

#include <string_view>

namespace seqtrain::optim {

/// Whether decoupled weight decay applies to the parameter of this name: to all but biases and the
/// weights of layer normalisations, as in the training of BERT and RoBERTa.
[[nodiscard]] constexpr bool decays(std::string_view name) {
  return !name.ends_with("bias") && name.find("LayerNorm") == std::string_view::npos &&
         name.find("layer_norm") == std::string_view::npos;
}

}  // namespace seqtrain::optim
