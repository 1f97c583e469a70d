#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/data/table_rows.hpp>

namespace seqtrain::data {

/// Tells whether a text is a number as JSON has it: no zero before other digits, no plus, no blank.
/// So 007, which is a name, is none.
[[nodiscard]] inline bool is_json_number(std::string_view text) {
  const auto digits = [&text] {
    const auto count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool zero = text.starts_with('0');
  const auto whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

/// Tells whether a text is the shortest form of a double, as Python writes it: 1.1, 1.0 or 1e-05,
/// but not 1.10 or 12e4. So the double gives the text back.
[[nodiscard]] inline bool is_shortest_real(std::string_view text) {
  const auto real = parse_number<double>(text);
  if (!real || !std::isfinite(*real)) return false;
  std::array<char, 400> digits;
  for (const auto format : {std::chars_format::fixed, std::chars_format::scientific}) {
    char* const end =
        std::to_chars(digits.data(), digits.data() + digits.size(), *real, format).ptr;
    const std::string shortest{digits.data(), end};
    if (text == shortest || text == shortest + ".0") return true;
  }
  return false;
}

/// Returns the number of digits of a number from the first to the last that is not 0.
[[nodiscard]] inline std::size_t significant_digits(std::string_view number) {
  std::string digits;
  for (const char c : number.substr(0, number.find_first_of("eE"))) {
    if (c >= '0' && c <= '9' && (c != '0' || !digits.empty())) digits += c;
  }
  return digits.find_last_not_of('0') + 1;
}

/// Finds the type of a column that holds all values of an input without loss: integers if all are,
/// else reals if all are numbers, booleans if all are, and texts otherwise. A cell of a file
/// without types is a real if the double gives its text back; a number of JSON may have 17
/// significant digits. Nulls, and empty cells of a file without types, fit each type.
class ValueType {
 public:
  void add(const TableCell& cell) {
    using Kind = TableCell::Kind;
    if (cell.kind == Kind::null || (cell.kind == Kind::untyped && cell.text.empty())) return;
    const bool may_be_number = cell.kind == Kind::json || cell.kind == Kind::untyped;
    const bool is_boolean =
        cell.kind == Kind::json && (cell.text == "true" || cell.text == "false");
    has_values_ = true;
    all_booleans_ = all_booleans_ && is_boolean;
    add_number(may_be_number && is_json_number(cell.text) ? cell.text : "",
               cell.kind == Kind::untyped);
  }

  [[nodiscard]] ColumnType type() const {
    if (!has_values_) return ColumnType::text;
    if (all_booleans_) return ColumnType::boolean;
    if (all_integers_) return ColumnType::integer;
    const bool has_both_forms = has_whole_ && has_whole_with_point_;  // 1 and 1.0
    return all_reals_ && !has_both_forms ? ColumnType::real : ColumnType::text;
  }

 private:
  void add_number(std::string_view text, bool is_untyped) {
    const bool has_point = text.find_first_of(".eE") != std::string_view::npos;
    const auto integer = parse_number<std::int64_t>(text);
    const auto real = parse_number<double>(text);
    all_integers_ = all_integers_ && !has_point && integer && text != "-0";
    bool is_exact = integer && -exact_integers <= *integer && *integer <= exact_integers;
    if (has_point) is_exact = is_untyped ? is_shortest_real(text) : significant_digits(text) <= 17;
    all_reals_ = all_reals_ && real && std::isfinite(*real) && is_exact;
    has_whole_ = has_whole_ || (is_untyped && !has_point);
    has_whole_with_point_ = has_whole_with_point_ || (is_untyped && text.ends_with(".0"));
  }

  /// The greatest integer up to which a double has all.
  static constexpr std::int64_t exact_integers = std::int64_t{1} << 53;

  bool has_values_ = false;
  bool all_booleans_ = true;
  bool all_integers_ = true;
  bool all_reals_ = true;
  bool has_whole_ = false;             ///< a cell without a type is an integer
  bool has_whole_with_point_ = false;  ///< such a cell ends with .0
};

}  // namespace seqtrain::data
