#pragma once

#include <algorithm>
#include <string_view>

#include <seqtrain/buckets/place.hpp>
#include <seqtrain/core/lists.hpp>

namespace seqtrain::s3 {

/// The rules of S3's names, for `buckets::Place`.
struct Names {
  static constexpr std::string_view scheme = "s3://";

  /// Returns what is wrong with the name of a bucket, or nothing.
  static std::string_view bucket_problem(std::string_view name) {
    if (name.empty()) return "no bucket";
    if (name.size() < 3) return "the bucket's name is shorter than 3 characters";
    if (name.size() > 63) return "the bucket's name is longer than 63 characters";
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    const auto fits = [&](char c) { return plain(c) || c == '-' || c == '.'; };
    if (!std::ranges::all_of(name, fits)) {
      return "a bucket's name is made of lower-case letters, digits, '-' and '.'";
    }
    if (!plain(name.front()) || !plain(name.back())) {
      return "a bucket's name begins and ends with a letter or digit";
    }
    if (name.find("..") != name.npos) return "a part between dots is empty";
    const bool digits = name.find_first_not_of("0123456789.") == name.npos;
    if (digits && std::ranges::count(name, '.') == 3) {
      return "a bucket's name cannot be an IP address";
    }
    return {};
  }

  /// Returns what is wrong with the name of an object, or nothing.
  static std::string_view object_problem(std::string_view name) {
    for (const auto part : split(name, '/')) {
      if (part == "." || part == "..") return "an object's name cannot have a part '.' or '..'";
    }
    return buckets::object_problem(name);
  }
};

/// A place in S3, `s3://bucket/name`.
using Uri = buckets::Place<Names>;

}  // namespace seqtrain::s3
