#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/parse_number.hpp>

namespace seqtrain::kernel_text {

/// Returns the first 64 KiB of a small file, such as those in /proc and /sys, or an empty text if
/// it cannot be read.
inline std::string read_start(const std::filesystem::path& file) {
  std::string text(std::size_t{64} << 10, '\0');
  std::ifstream in{file, std::ios::binary};
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

/// Returns the parts of a text between characters of `separators`. Empty parts are left out.
inline std::vector<std::string_view> words(std::string_view text,
                                           std::string_view separators = " \t\n") {
  std::vector<std::string_view> found;
  while (true) {
    const auto begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return found;
    text.remove_prefix(begin);
    found.push_back(text.substr(0, text.find_first_of(separators)));
    text.remove_prefix(found.back().size());
  }
}

/// Returns a count in the kernel's decimal notation, or nothing for any other text, such as a
/// negative number or one of more than 64 bits.
inline std::optional<double> count(std::string_view word) {
  const auto value = parse_number<std::uint64_t>(word);
  return value ? std::optional{static_cast<double>(*value)} : std::nullopt;
}

/// Returns the word after a name such as `MemTotal:` in a table with a line for each name, or an
/// empty text if the name is missing.
inline std::string_view word_after(std::string_view name, std::string_view table) {
  const auto all = words(table);
  const auto at = std::find(all.begin(), all.end(), name);
  return all.end() - at > 1 ? at[1] : std::string_view{};
}

/// Returns the smallest of the limits that are given, or nothing if none is.
inline std::optional<double> least(std::initializer_list<std::optional<double>> limits) {
  std::optional<double> result;
  for (const auto limit : limits) {
    if (limit && (!result || *limit < *result)) result = limit;
  }
  return result;
}

}  // namespace seqtrain::kernel_text
