#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>

namespace seqtrain::weights {

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
    throw InputError{type == ProblemType::regression ? "regression has one label"
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
