#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/model/input_checks.hpp>
#include <seqtrain/model/loss/options.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/text/windows.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/lora.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

using weights::LoRA;

/// Options of a classifier.
struct ClassifierOptions {
  /// Labels by id; if empty, the names in config.json.
  std::vector<std::string> labels = {};
  std::optional<ProblemType> problem_type = {};  ///< if not given, the one in config.json
  std::optional<double> dropout = {};            ///< replaces every rate of config.json
  /// Size of the tokenizer's vocabulary, which is checked against the model's.
  std::size_t tokenizer_size = 0;
  /// True if parameters that have other sizes in the checkpoint are initialised as new ones.
  bool ignore_mismatched_sizes = false;
  std::int64_t reinit_layers = 0;  ///< last layers to initialise anew (Zhang et al. 2021)
  bool freeze_encoder = false;     ///< only the head learns; the encoder runs as in evaluation
  /// Low-rank adapters of the encoder's linear layers. Only they and the head learn, and they alone
  /// are the model's parameters.
  std::optional<LoRA> lora = {};
  /// True if the head is `SentenceHead` and is not trained, but fitted: see
  /// experiment/few_shot.hpp.
  bool few_shot = false;
  std::optional<OwnHead> head = {};  ///< replaces the family's head
  std::string base_name = {};  ///< the base's name in the adapter's config; default: its place
  LossOptions loss = {};
  /// Windows in which texts of any length are read, at most as long as the model allows.
  std::optional<text::Windows> windows = {};
  std::size_t most_tokens = 0;  ///< ids of windows that are computed together; 0: 8192
  std::uint64_t seed = 0;       ///< seed of a new head's values and of dropout
  c10::Device device = c10::Device{c10::kCPU};
  Precision precision = Precision::fp32;
  /// True if the model only computes logits. Its parameters cannot be read, trained or saved: the
  /// hand-written backend keeps the encoder's weights only in packed form.
  bool only_predicts = false;
  /// True if an adapter is loaded without its base's weights, for `AnyClassifier::add_adapter`.
  bool only_adapter = false;
  /// True if ATen's operators and autograd compute the encoder even if there are kernels for it.
  bool autograd = false;

  /// Returns the precision named fp32, bf16, fp16, int8 or auto.
  static Precision precision_named(std::string_view name) { return model::precision_named(name); }

  /// Returns what to do about a parameter that has another size in the checkpoint.
  [[nodiscard]] std::string_view advice_on_sizes() const {
    return only_predicts ? "take the config.json that was saved with these weights"
                         : "with --ignore-mismatched-sizes it is initialised anew";
  }

  /// Tells whether the encoder's own parameters never change or leave the model.
  [[nodiscard]] bool encoder_is_fixed() const { return only_predicts || lora.has_value(); }

  void validate() const {
    if (lora) lora->validate();
    if (lora && (freeze_encoder || only_predicts)) {
      throw InputError{"does not go with a frozen encoder", {.object = "lora"}};
    }
    if (few_shot && (freeze_encoder || encoder_is_fixed() || windows)) {
      throw InputError{"needs an encoder that learns and reads no windows",
                       {.object = "few_shot"},
                       "choose another base, or train without --few-shot"};
    }
    if (few_shot && head) {
      throw InputError{"has a head of its own", {.object = "few_shot"}, "give no other head"};
    }
    if (reinit_layers != 0 && (freeze_encoder || encoder_is_fixed())) {
      throw InputError{"needs an encoder that learns", {.object = "reinit_layers"}};
    }
    if (dropout && !(*dropout >= 0 && *dropout < 1)) {
      throw InputError{"must be at least 0 and below 1", {.object = "dropout"}};
    }
    if (precision == Precision::int8 && !only_predicts) {
      throw InputError{"a model cannot be trained in int8",
                       {.object = "precision"},
                       "use fp32, bf16, fp16 or auto; int8 is for predictions"};
    }
  }
};

/// Throws `InputError` with the place of the labels if the problem type needs another number of
/// them.
inline void check_label_count(const weights::ModelConfig& config, const Where& place) {
  if (allows_labels(config.problem(), config.labels.size())) return;
  throw InputError{config.problem() == ProblemType::regression
                       ? "regression needs a target"
                       : "a classifier needs two labels or more",
                   place};
}

/// Throws `InputError` with the place of the labels if two of them have one name.
inline void check_label_names(const std::vector<std::string>& labels, const Where& place) {
  std::set<std::string_view> names;
  for (const auto& label : labels) {
    if (names.insert(label).second) continue;
    throw InputError{"'" + label + "' twice", place,
                     "give each label a name of its own in id2label of config.json"};
  }
}

/// Throws `InputError` if a config.json is of another family.
inline void check_model_type(const weights::ConfigFile& file, std::string_view expected) {
  const std::string name = file.model_type();
  if (name == expected) return;
  throw file.root()
      .at("model_type")
      .error("is '" + name + "', expected '" + std::string{expected} + "'");
}

/// Applies the options to a family's configuration, which is that of `file`, and checks it.
template <std::derived_from<weights::ModelConfig> Config>
void configure(Config& config, const ClassifierOptions& options, const std::string& file) {
  options.validate();
  const Where labels = options.labels.empty() ? Where{.object = file, .field = "id2label"}
                                              : Where{.object = "labels"};
  const ProblemType stored = config.problem();
  if (!options.labels.empty()) {
    config.labels = options.labels;
    config.names_labels = true;
  }
  if (options.dropout) config.set_dropout(*options.dropout);
  config.validate(file);
  check_vocabulary(config, options.tokenizer_size, file);
  config.problem_type = options.problem_type.value_or(stored);
  check_label_count(config, labels);
  check_label_names(config.labels, labels);
}

}  // namespace seqtrain::model
