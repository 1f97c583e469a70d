#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace seqtrain::text::unicode_tables {

/// Calls `use(code)` for each character of pairs (gap from the last start, length).
template <class Use>
void for_each_code(std::span<const std::int32_t> runs, Use&& use) {
  std::int32_t first = 0;
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    first += runs[i];
    for (std::int32_t k = 0; k < runs[i + 1]; ++k) use(static_cast<char32_t>(first + k));
  }
}

/// Calls `use(code, parts)` for each character of runs (gap from the last start, length, parts per
/// character, parts), with each part stored as its distance from the part at its place before.
template <class Use>
void for_each_decomposition(std::span<const std::int32_t> runs, Use&& use) {
  std::array<char32_t, 18> parts{};
  std::int32_t first = 0;
  for (std::size_t i = 0; i < runs.size();) {
    first += runs[i];
    const std::int32_t length = runs[i + 1];
    const auto size = static_cast<std::size_t>(runs[i + 2]);
    i += 3;
    for (std::int32_t k = 0; k < length; ++k) {
      for (std::size_t place = 0; place < size; ++place) {
        parts.at(place) += static_cast<char32_t>(runs[i++]);
      }
      use(static_cast<char32_t>(first + k), std::span<const char32_t>{parts}.first(size));
    }
  }
}

}  // namespace seqtrain::text::unicode_tables
