#pragma once

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/architecture.hpp>
#include <seqtrain/model/load_network.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/weights_folder.hpp>

namespace seqtrain::model {

/// A classifier of a family that is known when the program is compiled.
template <class Family>
class Classifier : public AnyClassifier {
  static_assert(is_architecture<Family>());

 public:
  /// Throws `InputError` if the checkpoint, its config.json and the options do not fit together.
  explicit Classifier(const weights::WeightsFolder& checkpoint,
                      const ClassifierOptions& options = {})
      : AnyClassifier{load_network<Family>(checkpoint,
                                           weights::ConfigFile{checkpoint.config_file()}, options),
                      options} {}
};

}  // namespace seqtrain::model
