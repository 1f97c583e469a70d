#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/families.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/checkpoint.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::model {

/// A classifier whose family is known at run time only. It is a `seqtrain::Model`.
class AnyClassifier {
 public:
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = Loss;
  using Variant = std::variant<BertClassifier, RobertaClassifier>;

  template <class Family>
  AnyClassifier(Classifier<Family> classifier) : classifier_{std::move(classifier)} {}

  Loss accumulate(const data::Batch& batch, double weight) {
    return std::visit([&](auto& model) { return model.accumulate(batch, weight); }, classifier_);
  }
  Loss accumulate(const data::Batch& batch, double weight,
                  const std::function<void(std::size_t)>& ready) {
    return std::visit([&](auto& model) { return model.accumulate(batch, weight, ready); },
                      classifier_);
  }
  metrics::Logits logits(const data::Batch& batch) {
    return std::visit([&](auto& model) { return model.logits(batch); }, classifier_);
  }
  [[nodiscard]] double weight_of(const data::Batch& batch) const {
    return std::visit([&](const auto& model) { return model.weight_of(batch); }, classifier_);
  }
  void set_class_weights(const std::vector<double>& weights) {
    std::visit([&](auto& model) { model.set_class_weights(weights); }, classifier_);
  }
  [[nodiscard]] std::span<const tensor::Parameter> parameters() const {
    return std::visit([](const auto& model) { return model.parameters(); }, classifier_);
  }
  [[nodiscard]] tensor::StateDict state_dict() const { return tensor::StateDict{parameters()}; }
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    std::visit([&](auto& model) { model.load_state_dict(tensors); }, classifier_);
  }
  [[nodiscard]] const weights::ModelConfig& config() const {
    return std::visit(
        [](const auto& model) -> auto& { return model.config(); }, classifier_);
  }
  [[nodiscard]] const LoadReport& load_report() const {
    return std::visit(
        [](const auto& model) -> auto& { return model.load_report(); }, classifier_);
  }
  [[nodiscard]] ProblemType problem_type() const {
    return std::visit([](const auto& model) { return model.problem_type(); }, classifier_);
  }
  [[nodiscard]] std::size_t maps_in_bf16() const {
    return std::visit([](const auto& model) { return model.maps_in_bf16(); }, classifier_);
  }
  [[nodiscard]] Precision precision() const {
    return std::visit([](const auto& model) { return model.precision(); }, classifier_);
  }
  [[nodiscard]] std::int64_t max_length() const {
    return std::visit([](const auto& model) { return model.max_length(); }, classifier_);
  }
  void save_pretrained(const std::filesystem::path& directory) const {
    std::visit([&](const auto& model) { model.save_pretrained(directory); }, classifier_);
  }

  /// Returns the classifier of its own type, for code that depends on the family.
  [[nodiscard]] Variant& get() { return classifier_; }

 private:
  Variant classifier_;
};

/// Loads the classifier in a Hugging Face directory, of the family that its config.json names.
/// Throws `InputError` if the family is not supported or the files do not fit together.
[[nodiscard]] inline AnyClassifier load_classifier(const std::filesystem::path& directory,
                                                   const ClassifierOptions& options = {}) {
  const weights::Checkpoint checkpoint{directory};
  const auto config = weights::load_config(checkpoint.config_file());
  if (config.model_type == Roberta::model_type) {
    return RobertaClassifier{checkpoint, options};
  }
  return BertClassifier{checkpoint, options};
}

}  // namespace seqtrain::model
