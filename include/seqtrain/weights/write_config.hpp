#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>

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

namespace detail {

/// The keys of config.json that a trained classifier replaces, including their former names.
/// `seqtrain` is one of them because a calibration belongs to the old weights.
inline constexpr std::array<std::string_view, 9> classifier_keys{
    "architectures", "id2label", "label2id",    "num_labels", "_num_labels",
    "problem_type",  "dtype",    "torch_dtype", "seqtrain"};

inline void check_labels(std::span<const std::string> labels, ProblemType type,
                         const std::string& file) {
  const Where where{.object = file, .field = "id2label"};
  if (!allows_labels(type, labels.size())) {
    throw InputError{type == ProblemType::regression ? "regression needs a target"
                                                     : "a classifier needs at least two labels",
                     where};
  }
  std::set<std::string_view> names;
  for (const auto& label : labels) {
    if (!names.insert(label).second) throw InputError{"label '" + label + "' twice", where};
  }
}

inline void write_classifier_keys(json::Writer& out, std::span<const std::string> labels,
                                  ProblemType type) {
  out.key("id2label").begin_object();
  for (std::size_t id = 0; id < labels.size(); ++id) out.member(std::to_string(id), labels[id]);
  out.end_object().key("label2id").begin_object();
  for (std::size_t id = 0; id < labels.size(); ++id) out.member(labels[id], id);
  out.end_object();
  out.member("problem_type", name(type));
  out.member("torch_dtype", "float32");  // the name that old and new transformers both read
}

}  // namespace detail

/// Returns the config.json of a classifier with these labels, made from `source`, the config.json
/// of the checkpoint that it was trained from. `architecture` is transformers' class of the
/// classifier. Keys that do not depend on the labels stay as they are. Throws `InputError` if
/// labels repeat, or if there is only one and the task is not regression.
inline std::string classifier_config(std::string_view source, std::string_view architecture,
                                     std::span<const std::string> labels,
                                     ProblemType type = ProblemType::single_label,
                                     const std::string& file = "config.json") {
  detail::check_labels(labels, type, file);
  const auto document = json::Document::parse(source, file);
  json::Writer out{2};
  out.begin_object();
  out.key("architectures").begin_array();
  out.value(architecture).end_array();
  for (const auto& [key, value] : document.root().members()) {
    if (std::ranges::count(detail::classifier_keys, key) > 0) continue;
    out.key(key).raw(simdjson::minify(value.element()));
  }
  detail::write_classifier_keys(out, labels, type);
  out.end_object();
  return out.text() + "\n";
}

/// Writes `classifier_config` to the file `path`, as a whole or not at all.
inline void write_config(const std::filesystem::path& path, std::string_view source,
                         std::string_view architecture, std::span<const std::string> labels,
                         ProblemType type = ProblemType::single_label) {
  write_file_atomically(path, classifier_config(source, architecture, labels, type, path.string()));
}

}  // namespace seqtrain::weights
