#pragma once

#include <filesystem>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_any_network.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/weights/weights_folder.hpp>

namespace seqtrain::model {

SEQTRAIN_SEPARATE AnyClassifier load_classifier(const std::filesystem::path& directory,
                                                const ClassifierOptions& options,
                                                const std::filesystem::path& base) {
  weights::WeightsFolder checkpoint{directory, base};
  if (options.only_predicts && !options.head) checkpoint.take_setfit_head();
  return while_unchanged(checkpoint, [&] {
    return AnyClassifier{load_any_network(checkpoint, options), options};
  });
}

}  // namespace seqtrain::model
