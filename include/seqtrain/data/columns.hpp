#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/joined.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

/// The columns in which a table with a header has its fields.
struct Columns {
  std::size_t count = 0;
  std::size_t text = 0;
  std::optional<std::size_t> pair = {};
  std::optional<std::size_t> label = {};

  /// Returns the example in a row's cells. Throws `InputError` unless there are `count` cells.
  [[nodiscard]] Example example(std::span<const std::string_view> cells, std::string_view record,
                                const Source& source) const {
    if (cells.size() != count) {
      throw source.error(
          "expected " + std::to_string(count) + " columns, found " + std::to_string(cells.size()),
          record);
    }
    Example result{.text = cells[text], .record = record};
    if (pair) result.text_pair = cells[*pair];
    if (label) result.label = cells[*label];
    return result;
  }
};

/// Finds the fields in a header. Throws `InputError` if a field has no column.
inline Columns find_columns(std::span<const std::string> header, const Fields& fields,
                            const std::string& file) {
  const auto find = [&](const std::string& name) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(header, name);
    if (found == header.end()) return {};
    return static_cast<std::size_t>(found - header.begin());
  };
  const auto demand = [&](const std::string& name) {
    const auto found = find(name);
    if (found) return *found;
    throw InputError{"no such column; there are: " + joined(header),
                     {.object = file, .field = name}};
  };
  Columns columns{.count = header.size(), .text = demand(fields.text)};
  if (!fields.pair.empty()) {
    columns.pair = fields.pair_required ? demand(fields.pair) : find(fields.pair);
  }
  if (!fields.label.empty()) columns.label = demand(fields.label);
  return columns;
}

}  // namespace seqtrain::data
