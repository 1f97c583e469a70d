#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/equal_but_case.hpp>
#include <seqtrain/data/read_options.hpp>

namespace seqtrain::data {

/// Finds fields that only later records of JSON lines have and that could be meant as a text or a
/// label. The fields of a file are recognised from its first record.
class LaterFields {
 public:
  /// `first` are the names of the first record's fields.
  LaterFields(std::vector<std::string> first, ReadOptions options)
      : first_{std::move(first)}, options_{std::move(options)} {
    for (const auto& known : detail::known_texts) {
      watch(known.text);
      watch(known.pair);
    }
    if (!options_.labelled) return;
    for (const auto name : detail::known_labels) watch(name);
  }

  /// Tells whether a field has a known name and is not in the first record.
  [[nodiscard]] bool is_new(std::string_view name) const {
    if (!has_length(name.size())) return false;
    return std::ranges::any_of(watched_,
                               [&](const auto known) { return equal_but_case(known, name); });
  }

  /// Tells whether other fields than `fields` would be recognised if the first record had these
  /// new ones too.
  [[nodiscard]] bool matter(std::span<const std::string> names, const Fields& fields,
                            const std::string& file) const {
    auto all = first_;
    all.insert(all.end(), names.begin(), names.end());
    return choose_fields(all, options_, file) != fields;
  }

 private:
  void watch(std::string_view name) {
    if (name.empty() || find_name(first_, name)) return;
    watched_.push_back(name);
    lengths_ |= std::uint64_t{1} << name.size();
  }

  /// Tells whether a watched name has this length, which few other names have.
  [[nodiscard]] bool has_length(std::size_t length) const {
    return length < 64 && (lengths_ >> length & 1) != 0;
  }

  std::vector<std::string> first_;
  ReadOptions options_;
  std::vector<std::string_view> watched_;  ///< known names that the first record lacks
  std::uint64_t lengths_ = 0;              ///< bit n is set if one of them has n bytes
};

}  // namespace seqtrain::data
