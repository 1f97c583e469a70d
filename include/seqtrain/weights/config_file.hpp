#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>

namespace seqtrain::weights {

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
