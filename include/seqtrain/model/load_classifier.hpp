#pragma once

#include <filesystem>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/weights/weights_folder.hpp>

namespace seqtrain::model {

/// Loads a network of the family that the checkpoint's config.json names. Throws `InputError` if
/// the family is not supported or the files do not fit together.
[[nodiscard]] SEQTRAIN_SEPARATE LoadedNetwork
load_any_network(const weights::WeightsFolder& checkpoint, const ClassifierOptions& options);

/// Loads the classifier in a Hugging Face directory, of the family that its config.json names.
/// A directory in PEFT's layout gives its base with the adapter merged into the weights; `base` is
/// the base's directory, by default the one that the adapter names. A model of setfit has its own
/// head if it only predicts, and is trained with a new one. Throws `InputError` if the family is
/// not supported or the files do not fit together, and `Error` if one is rewritten meanwhile.
[[nodiscard]] inline AnyClassifier load_classifier(const std::filesystem::path& directory,
                                                   const ClassifierOptions& options = {},
                                                   const std::filesystem::path& base = {}) {
  weights::WeightsFolder checkpoint{directory, base};
  if (options.only_predicts) checkpoint.take_setfit_head();
  return while_unchanged(checkpoint, [&] {
    return AnyClassifier{load_any_network(checkpoint, options), options};
  });
}

}  // namespace seqtrain::model

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/load_any_network.hpp>
#endif
