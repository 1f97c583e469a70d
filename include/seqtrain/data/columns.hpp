#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

/// Returns the value of a cell in a column that stands for a label: 0 or 1, True or False. Returns
/// nothing if the cell holds something else.
[[nodiscard]] inline std::optional<bool> zero_or_one(std::string_view cell) {
  constexpr std::array<std::string_view, 5> ones{"1", "True", "1.0", "true", "TRUE"};
  constexpr std::array<std::string_view, 5> zeros{"0", "False", "0.0", "false", "FALSE"};
  if (std::ranges::count(ones, cell) > 0) return true;
  if (std::ranges::count(zeros, cell) > 0) return false;
  return {};
}

/// Makes the label of a record from columns that each stand for a label.
class ColumnLabels {
 public:
  /// `names` are the labels and must outlive this object. If `as_json` is set a record may have any
  /// number of labels, otherwise it has one.
  ColumnLabels(const std::vector<std::string>& names, bool as_json)
      : names_{&names}, as_json_{as_json} {}

  void begin_record() { values_.assign(names_->size(), missing); }

  /// Sets the value of a label's column.
  void set(std::size_t label, std::string_view cell) {
    const auto value = zero_or_one(cell);
    values_[label] = value ? static_cast<std::int8_t>(*value) : wrong;
  }

  /// Completes a record. Returns an error message, or "" if there is none.
  [[nodiscard]] std::string finish_record() {
    label_.clear();
    json::Writer array;
    array.begin_array();
    std::size_t count = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] < 0) return "expected 0 or 1, or True or False, in '" + (*names_)[i] + "'";
      if (values_[i] == 0) continue;
      array.value(std::string_view{(*names_)[i]});
      label_ = (*names_)[i];
      ++count;
    }
    if (as_json_) label_ = array.end_array().text();
    if (as_json_ || count == 1) return {};
    return std::to_string(count) +
           " labels are 1, expected one; several labels of a record are "
           "--problem-type multi_label_classification";
  }

  /// Returns the label of the record: a JSON array of names, or a name. It is valid until the next
  /// record.
  [[nodiscard]] std::string_view label() const { return label_; }

 private:
  static constexpr std::int8_t missing = -1, wrong = -2;

  const std::vector<std::string>* names_;
  bool as_json_;
  std::vector<std::int8_t> values_;
  std::string label_;
};

/// The columns in which a table has its fields.
struct Columns {
  std::size_t count = 0;
  bool may_be_more = false;  ///< rows may have more than `count` cells
  std::size_t text = 0;
  std::optional<std::size_t> pair = {};
  std::optional<std::size_t> label = {};
  std::vector<std::size_t> labels = {};  ///< the columns of `Fields::label_columns`
  bool label_required = true;

  /// Returns the example in a row's cells. Throws `InputError` unless there are `count` cells.
  /// `column_labels` makes the label if each label has a column; it must live as long as the
  /// result.
  [[nodiscard]] Example example(std::span<const std::string_view> cells, std::string_view record,
                                const Source& source, ColumnLabels& column_labels) const {
    if (may_be_more ? cells.size() < count : cells.size() != count) {
      throw source.error(
          "expected " + std::to_string(count) + " columns, found " + std::to_string(cells.size()),
          record);
    }
    Example result{.text = cells[text], .record = record};
    if (pair) result.text_pair = cells[*pair];
    if (label) result.label = cells[*label];
    if (label && cells[*label].empty()) {
      if (label_required) {
        throw source.error("the label is empty", record, {}, "write one, or leave out the row");
      }
      result.label.reset();
    }
    if (labels.empty()) return result;
    column_labels.begin_record();
    for (std::size_t i = 0; i < labels.size(); ++i) column_labels.set(i, cells[labels[i]]);
    const std::string problem = column_labels.finish_record();
    if (!problem.empty()) throw source.error(problem, record);
    result.label = column_labels.label();
    return result;
  }
};

/// Throws `InputError` if the names of columns are given for a file that is not a table of text.
inline void refuse_columns(const ReadOptions& options, const std::string& file) {
  if (options.columns.empty()) return;
  throw InputError{"has names of its own for its fields",
                   {.object = file},
                   "leave out --columns, which is for .tsv and .csv without a header line"};
}

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
  Columns columns{
      .count = header.size(), .text = demand(fields.text), .label_required = fields.label_required};
  if (!fields.pair.empty()) {
    columns.pair = fields.pair_required ? demand(fields.pair) : find(fields.pair);
  }
  for (const auto& label : fields.label_columns) columns.labels.push_back(demand(label));
  if (!fields.label.empty() && columns.labels.empty()) columns.label = demand(fields.label);
  return columns;
}

}  // namespace seqtrain::data
