#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace seqtrain {

/// Returns the number if all of `text` is a number of that type in decimal notation.
template <class T>
[[nodiscard]] std::optional<T> number_in(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional{number} : std::nullopt;
}

}  // namespace seqtrain
