#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::buckets {

/// Returns what is wrong with an object's name in every cloud, or nothing. The empty name means the
/// whole bucket.
inline std::string_view object_problem(std::string_view name) {
  if (name.size() > 1024) return "the object's name is longer than 1024 bytes";
  if (name == "." || name == "..") return "an object cannot be named '.' or '..'";
  if (name.find_first_of("\r\n") != std::string_view::npos) {
    return "an object's name cannot have a line break";
  }
  if (!simdjson::validate_utf8(name.data(), name.size())) return "the name is not UTF-8";
  return {};
}

/// A place in a cloud's buckets, such as `gs://bucket/name`. The name is taken literally: `%`, `#`,
/// `?` and spaces have no other meaning. `Names` has the cloud's `scheme`, and the functions
/// `bucket_problem` and `object_problem`, which return what is wrong with a name, or nothing.
template <class Names>
struct Place {
  std::string bucket;
  std::string name = {};  ///< an object or a prefix of names; empty for the bucket itself

  /// Tells whether a text begins with the cloud's scheme.
  static bool has(std::string_view text) { return text.starts_with(Names::scheme); }

  /// Parses an address. Throws `InputError` if the service would refuse the name of the bucket or
  /// the object.
  static Place parse(std::string_view text) {
    const std::string scheme{Names::scheme};
    if (!has(text)) throw InputError{"not a " + scheme + " address", {.object = std::string{text}}};
    const auto rest = text.substr(scheme.size());
    const auto slash = std::min(rest.find('/'), rest.size());
    Place place{std::string{rest.substr(0, slash)}};
    if (slash < rest.size()) place.name = rest.substr(slash + 1);
    place.validate();
    return place;
  }

  void validate() const {
    auto problem = Names::bucket_problem(bucket);
    if (problem.empty()) problem = Names::object_problem(name);
    if (problem.empty()) return;
    throw InputError{std::string{problem},
                     {.object = text()},
                     "expected " + std::string{Names::scheme} + "bucket/name"};
  }

  /// Returns the place `relative` below this one.
  [[nodiscard]] Place child(std::string_view relative) const {
    return {bucket, as_directory().name + std::string{relative}};
  }

  /// Returns this place with a slash at its end: a prefix that matches only names below it.
  [[nodiscard]] Place as_directory() const {
    const bool complete = name.empty() || name.ends_with('/');
    return {bucket, complete ? name : name + "/"};
  }

  /// Returns the whole text. Line breaks, which no valid name has, become `?`.
  [[nodiscard]] std::string text() const {
    auto shown = std::string{Names::scheme} + bucket + (name.empty() ? "" : "/" + name);
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    std::replace_if(shown.begin(), shown.end(), control, '?');
    return shown;
  }

  friend bool operator==(const Place&, const Place&) = default;
};

}  // namespace seqtrain::buckets
