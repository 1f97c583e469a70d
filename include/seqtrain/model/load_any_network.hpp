#pragma once

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/weights/weights_folder.hpp>

namespace seqtrain::model {

/// Loads a network of the family that the checkpoint's config.json names. Throws `InputError` if
/// the family is not supported or the files do not fit together.
[[nodiscard]] SEQTRAIN_SEPARATE LoadedNetwork
load_any_network(const weights::WeightsFolder& checkpoint, const ClassifierOptions& options);

}  // namespace seqtrain::model

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/load_any_network.hpp>
#endif
