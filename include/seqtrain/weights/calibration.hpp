#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>

namespace seqtrain::weights {

/// The calibration of a trained classifier: a temperature and thresholds that were chosen on a dev
/// set. It is the object "seqtrain" of config.json, which transformers ignores. Logits do not
/// depend on it.
struct Calibration {
  double temperature = 1;  ///< divisor of the logits of single-label classification
  /// The threshold of each label in multi-label classification: a text has a label if its score is
  /// above it. All are 0.5 if empty.
  std::vector<double> thresholds = {};

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// Returns the calibration in the root of a config.json, if it has one. Throws `InputError` if a
/// number is out of range or the number of thresholds is not that of the labels.
[[nodiscard]] inline std::optional<Calibration> calibration_in(const json::Value& root,
                                                               std::size_t labels) {
  const auto object = root.find("seqtrain");
  if (!object) return {};
  Calibration result;
  if (const auto value = object->find("temperature")) {
    result.temperature = value->number();
    if (!(result.temperature > 0)) throw value->error("must be above 0");
  }
  if (const auto list = object->find("thresholds")) {
    for (const auto& value : list->items()) {
      result.thresholds.push_back(value.number());
      const double threshold = result.thresholds.back();
      if (!(threshold >= 0 && threshold <= 1))
        throw value.error("must be at least 0 and at most 1");
    }
    if (!result.thresholds.empty() && result.thresholds.size() != labels) {
      throw list->error("there are " + std::to_string(labels) + " labels");
    }
  }
  return result;
}

/// Returns the text of a config.json with this calibration, which replaces an older one.
[[nodiscard]] inline std::string with_calibration(std::string_view config,
                                                  const Calibration& calibration,
                                                  const std::string& file = "config.json") {
  const auto document = json::Document::parse(config, file);
  json::Writer out{2};
  out.begin_object();
  for (const auto& [key, value] : document.root().members()) {
    if (key != "seqtrain") out.key(key).raw(simdjson::minify(value.element()));
  }
  out.key("seqtrain").begin_object().member("temperature", calibration.temperature);
  out.member("thresholds", calibration.thresholds);
  return out.end_object().end_object().text() + "\n";
}

}  // namespace seqtrain::weights
