#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/model/backend.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/precision.hpp>

namespace seqtrain::model {

/// The backend of a classifier.
struct MadeBackend {
  std::unique_ptr<Backend> backend;
  bool by_hand = false;  ///< the hand-written backend computes the encoder
  /// The names of what the layers have that neither the hand-written backend nor the packed one
  /// computes; empty if operators compute them for another reason, or do not.
  std::string only_by_operators = {};
  /// What the log should say about kernels of our own that the environment asks for, or "".
  std::string own_kernels = {};
  std::size_t maps_in_bf16 = 0;  ///< see `cpu::AnyEncoder::maps_in_bf16`
};

/// Makes the hand-written backend if there is one for the network and the device, else those by
/// ATen's operators. They refer to the network's parts, and gradient tensors may be replaced.
/// Throws `InputError` if there are none in that precision.
SEQTRAIN_SEPARATE MadeBackend make_backend(LoadedNetwork& loaded, Precision precision,
                                           const ClassifierOptions& options);

}  // namespace seqtrain::model

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/make_backend.hpp>
#endif
