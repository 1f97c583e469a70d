#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/core/shown_text.hpp>
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
  /// `fields` must outlive this object. A record has one label; any number of them if labels are
  /// JSON; with `Fields::label_counts` a share of each; or with `Fields::label_numbers` a number
  /// for each.
  explicit ColumnLabels(const Fields& fields) : fields_{&fields} {}

  void begin_record() {
    values_.assign(names().size(), fields_->label_numbers ? no_number : missing);
    problem_.clear();
    wrong_column_ = 0;
  }

  /// Sets the value of a label's column.
  void set(std::size_t label, std::string_view cell) {
    if (fields_->label_numbers) return set_number(label, cell);
    if (fields_->label_counts) {
      const auto count = parse_number<double>(cell);
      values_[label] = count && std::isfinite(*count) && *count >= 0 ? *count : wrong;
      return;
    }
    const auto value = zero_or_one(cell);
    values_[label] = value ? static_cast<double>(*value) : wrong;
  }

  /// Completes a record. Returns an error message, or "" if there is none.
  [[nodiscard]] std::string finish_record() {
    label_.clear();
    if (fields_->label_numbers) return list_numbers();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] >= 0) continue;
      wrong_column_ = i;
      return fields_->label_counts
                 ? "expected a number of people, 0 or more, in '" + names()[i] + "'"
                 : "expected 0 or 1, or True or False, in '" + names()[i] + "'";
    }
    return fields_->label_counts ? share_counts() : list_labels();
  }

  /// Returns the label of the record: a JSON array of names or numbers, a name, or a JSON object
  /// with the share of each label. Returns nothing if nobody has chosen a label, or if a number is
  /// missing. It is valid until the next record.
  [[nodiscard]] std::optional<std::string_view> label() const {
    return label_.empty() ? std::nullopt : std::optional<std::string_view>{label_};
  }
  /// Returns the column that the error message is about, or 0 if it is about all of them.
  [[nodiscard]] std::size_t wrong_column() const { return wrong_column_; }

 private:
  static constexpr double missing = -1, wrong = -2;
  static constexpr double no_number = std::numeric_limits<double>::infinity();

  [[nodiscard]] const std::vector<std::string>& names() const { return fields_->label_columns; }

  /// Sets a number of `Fields::label_numbers`, which must fit a float.
  void set_number(std::size_t target, std::string_view cell) {
    if (is_blank(cell) || cell == "null") return;
    const auto number = parse_number<double>(cell);
    const bool fits = number && std::isfinite(static_cast<float>(*number));
    if (fits) values_[target] = *number;
    if (fits || !problem_.empty()) return;
    wrong_column_ = target;
    problem_ = "'" + shown(cell) + "' in '" + names()[target] + "' is not a finite number";
  }

  std::string list_numbers() {
    if (!problem_.empty()) return problem_;
    json::Writer array;
    array.begin_array();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const bool is_missing = std::isinf(values_[i]);
      if (is_missing && fields_->label_required) {
        wrong_column_ = i;
        return "the number in '" + names()[i] + "' is missing";
      }
      if (is_missing) return {};
      array.value(static_cast<float>(values_[i]));
    }
    label_ = array.end_array().text();
    return {};
  }

  std::string list_labels() {
    json::Writer array;
    array.begin_array();
    std::size_t count = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] == 0) continue;
      array.value(std::string_view{names()[i]});
      label_ = names()[i];
      ++count;
    }
    if (fields_->label_as_json) label_ = array.end_array().text();
    if (fields_->label_as_json || count == 1) return {};
    return std::to_string(count) +
           " labels are 1, expected one; several labels of a record are "
           "--problem-type multi_label_classification";
  }

  std::string share_counts() {
    double sum = 0;
    for (const double count : values_) sum += count;
    if (sum == 0) return fields_->label_required ? "all counts are 0, so there is no label" : "";
    if (!std::isfinite(sum)) return "the counts are too large";
    json::Writer shares;
    shares.begin_object();
    for (std::size_t i = 0; i < values_.size(); ++i) shares.member(names()[i], values_[i] / sum);
    label_ = shares.end_object().text();
    return {};
  }

  const Fields* fields_;
  std::vector<double> values_;
  std::string problem_;  ///< that of the first number which is none
  std::size_t wrong_column_ = 0;
  std::string label_;
};

/// The working memory for the examples of a table.
struct RowScratch {
  explicit RowScratch(const Fields& fields) : labels{fields} {}

  ColumnLabels labels;
  std::vector<std::string_view> parts = {};
  std::string text = {};
  std::vector<KeptValue> kept = {};
};

/// The columns in which a table has its fields.
struct Columns {
  std::size_t count = 0;
  bool may_be_more = false;             ///< rows may have more than `count` cells
  std::vector<std::size_t> texts = {};  ///< the column of the text, or those of its parts
  std::optional<std::size_t> pair = {};
  std::optional<std::size_t> label = {};
  std::vector<std::size_t> labels = {};  ///< the columns of `Fields::label_columns`
  std::vector<std::size_t> keep = {};    ///< the columns of `Fields::keep`
  bool label_required = true;

  /// Returns the example in a row's cells. Throws `InputError` unless there are `count` cells.
  /// `scratch` must live as long as the result.
  [[nodiscard]] Example example(std::span<const std::string_view> cells, std::string_view record,
                                const Source& source, RowScratch& scratch) const {
    if (may_be_more ? cells.size() < count : cells.size() != count) {
      throw source.error(
          "expected " + std::to_string(count) + " columns, found " + std::to_string(cells.size()),
          record);
    }
    Example result{.text = text_of(cells, scratch), .record = record};
    scratch.kept.clear();
    for (const std::size_t column : keep) {
      scratch.kept.push_back({.text = cells[column], .is_cell = true});
    }
    result.kept = scratch.kept;
    if (pair) result.text_pair = cells[*pair];
    if (label) result.label = cells[*label];
    if (label && (cells[*label].empty() || (!label_required && is_blank(cells[*label])))) {
      if (label_required) {
        throw source.error("the label is empty", record, {}, "write one, or leave out the row");
      }
      result.label.reset();
    }
    if (labels.empty()) return result;
    scratch.labels.begin_record();
    for (std::size_t i = 0; i < labels.size(); ++i) scratch.labels.set(i, cells[labels[i]]);
    const std::string problem = scratch.labels.finish_record();
    if (!problem.empty()) throw source.error(problem, record);
    result.label = scratch.labels.label();
    return result;
  }

 private:
  [[nodiscard]] std::string_view text_of(std::span<const std::string_view> cells,
                                         RowScratch& scratch) const {
    if (texts.size() == 1) return cells[texts.front()];
    scratch.parts.clear();
    for (const std::size_t column : texts) scratch.parts.push_back(cells[column]);
    join_texts(scratch.parts, scratch.text);
    return scratch.text;
  }
};

/// Throws `InputError` if the names of columns are given for a file that is not a table of text.
inline void refuse_columns(const ReadOptions& options, const std::string& file) {
  if (options.columns.empty()) return;
  throw InputError{"has names of its own for its fields",
                   {.object = file},
                   "leave out --columns, which is for .tsv and .csv without a header line"};
}

/// Throws `InputError` if fields are to be passed on, which a file without fields does not have.
inline void refuse_fields(const ReadOptions& options, const std::string& file) {
  const auto& field = options.keep.empty() ? options.split_field : options.keep.front();
  if (!field.empty()) throw InputError{"has no fields", {.object = file, .field = field}};
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
  Columns columns{.count = header.size(), .label_required = fields.label_required};
  for (const auto& part : fields.text_parts) columns.texts.push_back(demand(part));
  if (columns.texts.empty()) columns.texts.push_back(demand(fields.text));
  if (!fields.pair.empty()) {
    columns.pair = fields.pair_required ? demand(fields.pair) : find(fields.pair);
  }
  for (const auto& label : fields.label_columns) columns.labels.push_back(demand(label));
  for (const auto& name : fields.keep) columns.keep.push_back(demand(name));
  if (!fields.label.empty() && columns.labels.empty()) columns.label = demand(fields.label);
  return columns;
}

}  // namespace seqtrain::data
