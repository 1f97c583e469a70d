#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/csv_cell.hpp>
#include <seqtrain/data/example.hpp>

namespace seqtrain::predict {

/// Writes a line of CSV, cell after cell, as `data::RowWriter` writes a row of a table.
class CsvRow {
 public:
  CsvRow() = default;
  /// Continues a line that is not finished.
  explicit CsvRow(std::string begun) : line_{std::move(begun)} {}

  /// Writes an empty cell.
  void null() { line_ += ','; }
  /// Writes a text.
  void text(std::string_view text) {
    data::append_csv_cell(line_, text);
    line_ += ',';
  }
  /// Writes an integer.
  void integer(std::int64_t number) { line_ += std::to_string(number) + ','; }
  /// Writes a number with the digits that its type needs.
  template <class Number>
  void real(Number number) {
    json::Writer out;
    out.value(number);
    line_ += out.text() + ',';
  }
  /// Writes a list of numbers as JSON.
  void floats(std::span<const float> numbers) {
    json::Writer out;
    text(out.value(numbers).text());
  }
  /// Writes a list of texts with commas between them.
  void texts(std::span<const std::string> texts) {
    std::string all;
    for (const std::string& each : texts) all += (all.empty() ? "" : ",") + each;
    text(all);
  }
  /// Writes a value of an input as it is.
  void value(const data::KeptValue& value) {
    text(value.is_json && value.text == "null" ? std::string_view{} : value.text);
  }

  /// Returns the line without its end, which another `CsvRow` continues.
  [[nodiscard]] std::string unfinished() && { return std::move(line_); }
  /// Returns the line.
  [[nodiscard]] std::string finished() && {
    line_.pop_back();
    return std::move(line_);
  }

 private:
  std::string line_;
};

}  // namespace seqtrain::predict
