#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace seqtrain::tensor {

/// A named tensor of a model. The name is the Hugging Face state_dict key: loading, saving,
/// weight-decay groups and freezing are all questions about names.
struct Parameter {
  std::string name;
  at::Tensor value;
  at::Tensor gradient;  ///< same shape; undefined where the parameter is frozen
};

}  // namespace seqtrain::tensor
