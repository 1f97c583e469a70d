#pragma once

#include <algorithm>
#include <string_view>

#include <seqtrain/buckets/place.hpp>
#include <seqtrain/core/lists.hpp>

namespace seqtrain::gcs {

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

}  // namespace detail

/// The rules of Google's names, for `buckets::Place`.
struct Names {
  static constexpr std::string_view scheme = "gs://";
  /// Returns what is wrong with the name of a bucket, or nothing.
  static std::string_view bucket_problem(std::string_view name) {
    return detail::bucket_problem(name);
  }
  /// Returns what is wrong with the name of an object, or nothing.
  static std::string_view object_problem(std::string_view name) {
    if (name.starts_with(".well-known/acme-challenge/")) return "the object's name is reserved";
    return buckets::object_problem(name);
  }
};

/// A place in Google Cloud Storage, `gs://bucket/name`.
using Uri = buckets::Place<Names>;

}  // namespace seqtrain::gcs
