#pragma once

#include <string>
#include <vector>

namespace seqtrain::model {

/// The parameters and tensors for which a checkpoint and a model differ.
struct LoadReport {
  std::vector<std::string> fresh = {};       ///< parameters that the checkpoint lacks, initialised
  std::vector<std::string> resized = {};     ///< parameters with other sizes there, initialised
  std::vector<std::string> begun_anew = {};  ///< parameters of layers of `reinit_layers`
  std::vector<std::string> left_out =
      {};                    ///< tensors of the checkpoint without a place in the model
  std::string file = {};     ///< the checkpoint's file of weights
  std::string wrapper = {};  ///< a prefix that all names in the checkpoint have
};

}  // namespace seqtrain::model
