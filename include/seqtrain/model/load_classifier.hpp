#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/architectures.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/weights/checkpoint.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// Loads the classifier in a Hugging Face directory, of the family that its config.json names.
/// Throws `InputError` if the family is not supported or the files do not fit together.
[[nodiscard]] inline AnyClassifier load_classifier(const std::filesystem::path& directory,
                                                   const ClassifierOptions& options = {}) {
  const weights::Checkpoint checkpoint{directory};
  const weights::ConfigFile config{checkpoint.config_file()};
  std::optional<LoadedNetwork> loaded;
  Architectures::visit(config, [&]<class Family>() {
    loaded.emplace(load_network<Family>(checkpoint, config, options));
  });
  return AnyClassifier{*std::move(loaded), options};
}

}  // namespace seqtrain::model
