#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>

namespace seqtrain::hub {

/// The kind of content of a repository on the hub.
enum class Kind { model, dataset };

/// Returns "model" or "dataset".
[[nodiscard]] constexpr std::string_view name(Kind kind) {
  return kind == Kind::model ? "model" : "dataset";
}

namespace detail {

inline bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Tells whether the hub accepts `text` as the name of a repository or of its owner.
inline bool is_part_of_id(std::string_view text) {
  const auto allowed = [](char c) { return is_word(c) || c == '-' || c == '.'; };
  return !text.empty() && text.size() <= 96 && std::ranges::all_of(text, allowed) &&
         is_word(text.front()) && is_word(text.back());
}

inline bool is_id(std::string_view text) {
  const auto slash = text.find('/');
  if (text.find("--") != text.npos || text.find("..") != text.npos) return false;
  if (text.ends_with(".git")) return false;
  if (slash == text.npos) return is_part_of_id(text);
  return is_part_of_id(text.substr(0, slash)) && is_part_of_id(text.substr(slash + 1));
}

/// Tells whether `text` can be the name of a branch, a tag or a commit. An accepted name is a
/// relative path that stays inside its folder.
inline bool is_revision(std::string_view text) {
  if (text.empty() || text.size() > 200 || text.find("..") != text.npos) return false;
  const auto refused = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' ||
           std::string_view{"~^:?*[\\@"}.find(c) != std::string_view::npos;
  };
  if (std::ranges::any_of(text, refused)) return false;
  return std::ranges::all_of(
      split(text, '/'), [](std::string_view part) { return !part.empty() && part.front() != '.'; });
}

}  // namespace detail

/// Tells whether `text` is a full commit hash: 40 lower-case hexadecimal digits.
[[nodiscard]] inline bool is_commit(std::string_view text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// The name of a model or a data set on the hub, `org/name[@revision]`. Old names lack `org/`.
struct Name {
  std::string id;
  std::string revision = "main";  ///< a branch, a tag or a commit
  Kind kind = Kind::model;

  /// Parses a name. Throws `InputError` if `text` cannot be one.
  static Name parse(std::string_view text, Kind kind = Kind::model) {
    const auto at = text.find('@');
    Name name{.id = std::string{text.substr(0, at)}, .kind = kind};
    if (at != text.npos) name.revision = text.substr(at + 1);
    if (detail::is_id(name.id) && detail::is_revision(name.revision)) return name;
    throw InputError{"is not a name on the hub",
                     {.object = std::string{text}},
                     "a name is org/name, or org/name@revision"};
  }

  /// Tells whether `text` has the form of a name.
  static bool fits(std::string_view text) {
    const auto at = text.find('@');
    return detail::is_id(text.substr(0, at)) &&
           (at == text.npos || detail::is_revision(text.substr(at + 1)));
  }

  /// Returns the name as `parse` reads it.
  [[nodiscard]] std::string text() const { return id + (revision == "main" ? "" : "@" + revision); }

  /// Returns the folder of the repository in the cache, such as `models--org--name`.
  [[nodiscard]] std::string folder() const {
    auto folder = std::string{hub::name(kind)} + "s--" + id;
    if (const auto slash = folder.find('/'); slash != folder.npos) folder.replace(slash, 1, "--");
    return folder;
  }
};

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
