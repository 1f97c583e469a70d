#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace seqtrain {

/// Returns the number if all of `text` is one in digits, such as 12 or -3; for a floating-point
/// type also -2.5, 1e3, inf and nan. Returns nothing if it does not fit the type.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace seqtrain
