#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>

namespace seqtrain::gcs {

/// Tells whether a place is in Google Cloud Storage.
inline bool is_gs(std::string_view text) {
  return text.starts_with("gs://");
}

namespace detail {

inline bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

inline bool is_ipv4(std::string_view name) {
  const bool digits = name.find_first_not_of("0123456789.") == std::string_view::npos;
  return digits && std::count(name.begin(), name.end(), '.') == 3;
}

/// Returns what is wrong with a bucket's name, or nothing. Names with "google" are not refused:
/// nobody else can create such buckets, but some are public.
inline std::string_view bucket_problem(std::string_view name) {
  if (name.empty()) return "no bucket";
  if (name.size() < 3) return "the bucket's name is shorter than 3 characters";
  const bool dotted = name.find('.') != std::string_view::npos;
  if (name.size() > (dotted ? 222 : 63)) return "the bucket's name is too long";
  for (const char c : name) {
    if (!is_lower_or_digit(c) && c != '-' && c != '_' && c != '.') {
      return "a bucket's name is made of lower-case letters, digits, '-', '_' and '.'";
    }
  }
  if (!is_lower_or_digit(name.front()) || !is_lower_or_digit(name.back())) {
    return "a bucket's name begins and ends with a letter or digit";
  }
  if (is_ipv4(name)) return "a bucket's name cannot be an IP address";
  const auto fits = [](std::string_view part) { return !part.empty() && part.size() <= 63; };
  if (std::ranges::all_of(split(name, '.'), fits)) return {};
  return "a part between dots is empty or too long";
}

/// Returns what is wrong with an object's name, or nothing. The empty name means the whole bucket.
inline std::string_view object_problem(std::string_view name) {
  if (name.size() > 1024) return "the object's name is longer than 1024 bytes";
  if (name == "." || name == "..") return "an object cannot be named '.' or '..'";
  if (name.find_first_of("\r\n") != std::string_view::npos) {
    return "an object's name cannot have a line break";
  }
  if (name.starts_with(".well-known/acme-challenge/")) return "the object's name is reserved";
  if (!simdjson::validate_utf8(name.data(), name.size())) return "the name is not UTF-8";
  return {};
}

}  // namespace detail

/// A place in Google Cloud Storage, `gs://bucket/name`. The name is taken literally: `%`, `#`, `?`
/// and spaces have no other meaning.
struct Uri {
  std::string bucket;
  std::string name = {};  ///< an object or a prefix of names; empty for the bucket itself

  /// Parses `gs://bucket/name`. Throws `InputError` if the service would refuse the name of the
  /// bucket or the object.
  static Uri parse(std::string_view text) {
    if (!is_gs(text)) throw InputError{"not a gs:// address", {.object = std::string{text}}};
    const auto rest = text.substr(5);
    const auto slash = std::min(rest.find('/'), rest.size());
    Uri uri{std::string{rest.substr(0, slash)}};
    if (slash < rest.size()) uri.name = rest.substr(slash + 1);
    uri.validate();
    return uri;
  }

  void validate() const {
    auto problem = detail::bucket_problem(bucket);
    if (problem.empty()) problem = detail::object_problem(name);
    if (problem.empty()) return;
    throw InputError{std::string{problem}, {.object = text()}, "expected gs://bucket/name"};
  }

  /// Returns the place `relative` below this one.
  [[nodiscard]] Uri child(std::string_view relative) const {
    const auto directory = as_directory().name;
    return {bucket, directory + std::string{relative}};
  }

  /// Returns this place with a slash at its end: a prefix that matches only names below it.
  [[nodiscard]] Uri as_directory() const {
    const bool complete = name.empty() || name.ends_with('/');
    return {bucket, complete ? name : name + "/"};
  }

  /// Returns the whole text. Line breaks, which no valid name has, become `?`.
  [[nodiscard]] std::string text() const {
    auto shown = "gs://" + bucket + (name.empty() ? "" : "/" + name);
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    std::replace_if(shown.begin(), shown.end(), control, '?');
    return shown;
  }

  friend bool operator==(const Uri&, const Uri&) = default;
};

}  // namespace seqtrain::gcs
