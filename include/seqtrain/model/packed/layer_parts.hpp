#pragma once

#include <cstdint>
#include <vector>

#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model::packed {

/// The parts of one layer of BERT's form, for `Layers`.
struct LayerParts {
  std::vector<Linear> qkv;  ///< the maps of queries, keys and values
  Linear attention_output, intermediate, output;
  LayerNorm attention_norm, output_norm;
  cpu::ActivationKind activation;
  std::int64_t heads;
  cpu::DropoutRates dropout;
};

}  // namespace seqtrain::model::packed
