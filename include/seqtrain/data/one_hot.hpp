#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/csv.hpp>
#include <seqtrain/data/source.hpp>

/// CSV files with one column per label.
namespace seqtrain::data::one_hot {

/// The columns of a CSV file with one column per label, whose cells are 0 or 1, or True or False.
struct Options {
  std::string text_column = "text";
  std::vector<std::string> labels = {};
  std::string other = "other";  ///< label of a text that has none of the labels

  void validate() const {
    const Demand demand{"one-hot labels"};
    demand(!labels.empty(), "labels", "must not be empty");
    for (const auto& label : labels) {
      demand(!label.empty(), "labels", "have an empty name");
      demand(std::ranges::count(labels, label) == 1, "labels", "name '" + label + "' twice");
      demand(label != other, "labels", "contain '" + other + "', which texts without a label get");
    }
  }
};

/// Texts with the names of their labels. Each text has at least one.
struct Table {
  /// A text with the names of its labels.
  struct Row {
    std::string text;
    std::vector<std::string> labels;
  };
  std::vector<Row> rows = {};
  std::size_t left_out = 0;  ///< rows with a missing value

  /// Returns the names of all labels of the rows and of `asked`, sorted.
  [[nodiscard]] std::vector<std::string> names(std::vector<std::string> asked) const {
    for (const Row& row : rows) {
      for (const auto& label : row.labels) {
        if (std::ranges::count(asked, label) == 0) asked.push_back(label);
      }
    }
    std::ranges::sort(asked);
    return asked;
  }
};

namespace detail {

/// Returns whether pandas reads a cell as a missing value.
[[nodiscard]] inline bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 19> missing{
      "",     "#N/A",   "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
      "-nan", "1.#IND", "1.#QNAN",  "<NA>", "N/A",     "NA",       "NULL",
      "NaN",  "None",   "n/a",      "nan",  "null"};
  return std::ranges::count(missing, cell) > 0;
}

/// Reads the table's records one after the other.
class Reader {
 public:
  Reader(const Source& source, const Options& options)
      : source_{&source}, options_{&options}, parser_{source}, rest_{source.text} {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    if (rest_.empty()) throw InputError{"holds no example", {.object = source.name}};
    source.demand_utf8(rest_);
    parser_.take_record(rest_);
    const std::vector<std::string> header{parser_.cells().begin(), parser_.cells().end()};
    columns_ = header.size();
    text_ = column(header, options.text_column, "--text-col");
    for (const auto& label : options.labels) {
      labels_.push_back(column(header, label, "--label-list"));
    }
  }

  [[nodiscard]] Table read() {
    Table table;
    while (!rest_.empty()) {
      if (rest_.starts_with('\n') || rest_.starts_with("\r\n")) {
        take_line(rest_);
        continue;
      }
      const std::string_view record = parser_.take_record(rest_);
      const auto& cells = parser_.cells();
      if (cells.size() != columns_) {
        throw source_->error("expected " + std::to_string(columns_) + " columns, found " +
                                 std::to_string(cells.size()),
                             record);
      }
      if (std::ranges::any_of(cells, is_missing)) {
        ++table.left_out;
      } else {
        table.rows.push_back({std::string{cells[text_]}, labels_of(cells, record)});
      }
    }
    return table;
  }

 private:
  [[nodiscard]] std::size_t column(const std::vector<std::string>& header, const std::string& name,
                                   const char* flag) const {
    const auto found = std::ranges::find(header, name);
    if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
    throw InputError{"no such column; there are: " + joined(header),
                     {.object = source_->name, .field = name},
                     std::string{"name the columns with "} + flag};
  }

  [[nodiscard]] std::vector<std::string> labels_of(std::span<const std::string_view> cells,
                                                   std::string_view record) const {
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (is_one(cells[labels_[i]], record, options_->labels[i])) {
        labels.push_back(options_->labels[i]);
      }
    }
    if (labels.empty()) labels.push_back(options_->other);
    return labels;
  }

  [[nodiscard]] bool is_one(std::string_view cell, std::string_view record,
                            const std::string& column) const {
    if (const auto value = zero_or_one(cell)) return *value;
    throw source_->error("expected 0 or 1, or True or False, found '" + std::string{cell} + "'",
                         record, column);
  }

  const Source* source_;
  const Options* options_;
  CsvParser parser_;
  std::string_view rest_;
  std::size_t columns_ = 0;
  std::size_t text_ = 0;
  std::vector<std::size_t> labels_;
};

/// Returns a text as a quoted CSV cell.
[[nodiscard]] inline std::string csv_cell(std::string_view text) {
  std::string cell{'"'};
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

}  // namespace detail

/// Reads a CSV file with one column per label. Rows with a missing value in any column are left
/// out, as by pandas' `dropna`. Throws `InputError` if a column is missing or holds other values.
[[nodiscard]] inline Table read(const Source& source, const Options& options) {
  options.validate();
  return detail::Reader{source, options}.read();
}

/// Writes rows of a table, given by their indexes, to a CSV file with the columns `text` and
/// `label` for `encode_file`. The label is a JSON array of names, for multi-label classification,
/// or only the first name.
inline void write_labelled_csv(const std::filesystem::path& file, const Table& table,
                               std::span<const std::size_t> rows, bool multi_label) {
  std::string out = "text,label\n";
  for (const std::size_t number : rows) {
    const auto& row = table.rows.at(number);
    const std::string label =
        multi_label ? json::Writer{}.value(row.labels).text() : row.labels.front();
    out += detail::csv_cell(row.text) + "," + detail::csv_cell(label) + "\n";
  }
  write_file_atomically(file, out);
}

}  // namespace seqtrain::data::one_hot
