#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/core/parse_number.hpp>

namespace seqtrain::weights {

/// Returns the names of an id2label in the order of their ids: {"1": "yes", "0": "no"} gives {no,
/// yes}. Throws `InputError` unless the ids are 0 to n-1.
inline std::vector<std::string> id2label_names(const json::Value& id2label) {
  const auto members = id2label.members();
  std::vector<std::optional<std::string>> labels(members.size());
  for (const auto& [key, label] : members) {
    const auto id = parse_number<std::size_t>(key);
    if (!id || *id >= labels.size() || labels[*id]) {
      throw label.error("ids must be 0, 1, … without gaps");
    }
    labels[*id] = label.string_or_digits();
  }
  std::vector<std::string> result;
  for (auto& label : labels) result.push_back(*std::move(label));
  return result;
}

/// Returns the label names of a model's `config.json` in the order of their ids. The list is empty
/// if there is no id2label or it has only the placeholders LABEL_0, LABEL_1, … Throws `InputError`
/// unless the ids are 0 to n-1.
inline std::vector<std::string> chosen_label_names(const json::Value& config) {
  const auto id2label = config.find("id2label");
  if (!id2label) return {};
  auto names = id2label_names(*id2label);
  for (std::size_t id = 0; id < names.size(); ++id) {
    if (names[id] != "LABEL_" + std::to_string(id)) return names;
  }
  return {};
}

/// A config.json: its text and its parsed values.
class ConfigFile {
 public:
  /// Reads a file. Throws `InputError` if it cannot be read or is not JSON.
  explicit ConfigFile(const std::filesystem::path& path)
      : ConfigFile{std::string{MappedFile{path}.text()}, path.string()} {}

  /// Parses a text. Errors call it `name`.
  static ConfigFile parse(std::string_view text, std::string name = "config.json") {
    return {std::string{text}, std::move(name)};
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] json::Value root() const { return document_.root(); }

  /// Returns the name of the model's family. Throws `InputError` if the file has none.
  [[nodiscard]] std::string model_type() const {
    return std::string{root().at("model_type").string()};
  }

 private:
  ConfigFile(std::string text, std::string name)
      : text_{std::move(text)},
        name_{std::move(name)},
        document_{json::Document::parse(text_, name_)} {}

  std::string text_;
  std::string name_;
  json::Document document_;
};

}  // namespace seqtrain::weights
