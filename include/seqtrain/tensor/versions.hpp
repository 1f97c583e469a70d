#pragma once

#include <string>
#include <utility>
#include <vector>

#include <torch/version.h>

#include <seqtrain/core/version.hpp>

namespace seqtrain::tensor {

/// Returns the name and the version of each library that the program was built with.
inline std::vector<std::pair<std::string, std::string>> versions() {
  return {{"seqtrain", std::string{version}},
          {"torch", TORCH_VERSION},
          {"compiler", __VERSION__},
          {"cxx", std::to_string(__cplusplus)}};
}

}  // namespace seqtrain::tensor
