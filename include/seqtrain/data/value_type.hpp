#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
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

/// Finds the type of a column that holds all values of an input without loss: integers if all are,
/// else reals if all are numbers, booleans if all are, and texts otherwise. Nulls, and empty cells
/// of a file without types, fit each type.
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
    add_number(may_be_number && is_json_number(cell.text) ? cell.text : "");
  }

  [[nodiscard]] ColumnType type() const {
    if (!has_values_) return ColumnType::text;
    if (all_booleans_) return ColumnType::boolean;
    if (all_integers_) return ColumnType::integer;
    return all_reals_ ? ColumnType::real : ColumnType::text;
  }

 private:
  void add_number(std::string_view text) {
    const bool has_point = text.find_first_of(".eE") != std::string_view::npos;
    const auto integer = parse_number<std::int64_t>(text);
    const auto real = parse_number<double>(text);
    all_integers_ = all_integers_ && !has_point && integer;
    const bool is_exact =
        has_point || (integer && -exact_integers <= *integer && *integer <= exact_integers);
    all_reals_ = all_reals_ && real && std::isfinite(*real) && is_exact;
  }

  /// The greatest integer up to which a double has all.
  static constexpr std::int64_t exact_integers = std::int64_t{1} << 53;

  bool has_values_ = false;
  bool all_booleans_ = true;
  bool all_integers_ = true;
  bool all_reals_ = true;
};

}  // namespace seqtrain::data
