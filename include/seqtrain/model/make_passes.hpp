#pragma once

#include <cstddef>
#include <memory>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/passes.hpp>
#include <seqtrain/model/precision.hpp>

namespace seqtrain::model {

/// The passes of a classifier.
struct MadePasses {
  std::unique_ptr<Passes> passes;
  bool by_hand = false;          ///< the hand-written passes compute the encoder
  std::size_t maps_in_bf16 = 0;  ///< see `cpu::AnyEncoder::maps_in_bf16`
};

/// Makes the hand-written passes if there are some for the network and the device, else those by
/// ATen's operators. They refer to the network's parts, and gradient tensors may be replaced.
/// Throws `InputError` if there are none in that precision.
SEQTRAIN_SEPARATE MadePasses make_passes(LoadedNetwork& loaded, Precision precision,
                                         const ClassifierOptions& options);

}  // namespace seqtrain::model

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/make_passes.hpp>
#endif
