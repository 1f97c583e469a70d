#pragma once

#include <filesystem>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/options.hpp>

namespace seqtrain::model {

/// Loads the classifier in a Hugging Face directory, of the family that its config.json names.
/// A directory in PEFT's layout gives its base with the adapter merged into the weights; `base` is
/// the base's directory, by default the one that the adapter names. A model of setfit has its own
/// head if it only predicts, and is trained with a new one. Throws `InputError` if the family is
/// not supported or the files do not fit together, and `Error` if one is rewritten meanwhile.
[[nodiscard]] SEQTRAIN_SEPARATE AnyClassifier
load_classifier(const std::filesystem::path& directory, const ClassifierOptions& options = {},
                const std::filesystem::path& base = {});

}  // namespace seqtrain::model

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/load_classifier.hpp>
#endif
