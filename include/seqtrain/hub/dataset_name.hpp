#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/hub/name.hpp>

namespace seqtrain::hub {

/// The name of a data set on the hub and of one of its configs, `org/name[:config][@revision]`.
struct DatasetName {
  Name repository;
  std::string config = {};  ///< empty for the data set's default

  /// Parses a name. Throws `InputError` if `text` cannot be one.
  static DatasetName parse(std::string_view text) {
    const auto at = std::min(text.find('@'), text.size());
    const auto colon = text.substr(0, at).find(':');
    DatasetName name;
    if (colon == text.npos) {
      name.repository = Name::parse(text, Kind::dataset);
      return name;
    }
    name.config = text.substr(colon + 1, at - colon - 1);
    const auto repository = std::string{text.substr(0, colon)}.append(text.substr(at));
    if (!is_config(name.config) || !Name::fits(repository)) {
      throw InputError{"is not a name of a data set",
                       {.object = std::string{text}},
                       "a name is org/name, org/name:config or org/name:config@revision"};
    }
    name.repository = Name::parse(repository, Kind::dataset);
    return name;
  }

  /// Returns the name as `parse` reads it.
  [[nodiscard]] std::string text() const {
    const auto& [id, revision, kind] = repository;
    return id + (config.empty() ? "" : ":" + config) + (revision == "main" ? "" : "@" + revision);
  }

 private:
  static bool is_config(std::string_view text) {
    const auto allowed = [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '/'; };
    return !text.empty() && std::ranges::all_of(text, allowed);
  }
};

}  // namespace seqtrain::hub
