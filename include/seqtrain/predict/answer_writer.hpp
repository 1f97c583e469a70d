#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/table_rows.hpp>
#include <seqtrain/predict/answer_columns.hpp>
#include <seqtrain/predict/csv_row.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/uncertainty.hpp>

namespace seqtrain::predict {

/// Returns the line for a record that has no answer: `{"error": "stdin:4: …", "line": 4}`.
[[nodiscard]] inline std::string error_line(const InputError& error) {
  json::Writer out;
  out.begin_object().member("error", std::string_view{error.what()});
  return out.member("line", error.where().line).end_object().text();
}

/// Writes answers as lines of a format, with values of the input before them.
class AnswerWriter {
 public:
  AnswerWriter(const Task& task, AnswerOptions options)
      : task_{&task}, options_{std::move(options)}, own_{task, options_} {
    own_columns_ = own_.columns();
    for (const auto& name : options_.keep) kept_names_.push_back(kept_name(name));
  }

  [[nodiscard]] const AnswerOptions& options() const { return options_; }

  /// Returns the columns of a table of answers: the values of the input, then the answer's own.
  [[nodiscard]] std::vector<data::TableColumn> columns() const {
    std::vector<data::TableColumn> columns;
    for (const auto& name : kept_names_) columns.push_back({name, data::ColumnType::values});
    columns.insert(columns.end(), own_columns_.begin(), own_columns_.end());
    return columns;
  }

  /// Returns the line before all answers, with its line end; "" if the format has none.
  [[nodiscard]] std::string header() const {
    if (options_.format != AnswerFormat::csv) return {};
    CsvRow row;
    for (const auto& column : columns()) row.text(column.name);
    return std::move(row).finished() + '\n';
  }

  /// Returns what ends each line.
  [[nodiscard]] std::string_view line_end() const {
    const bool has_lines =
        options_.format == AnswerFormat::json_lines || options_.format == AnswerFormat::csv;
    return has_lines ? "\n" : "";
  }

  /// Returns the beginning of a record's line, with the values of the input. A record that could
  /// not be read has none.
  [[nodiscard]] std::string begin(std::span<const data::KeptValue> kept) const {
    if (options_.format == AnswerFormat::csv) return begin_row<CsvRow>(kept);
    if (options_.format == AnswerFormat::parquet) return begin_row<data::RowWriter>(kept);
    std::string line;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      line += i == 0 ? "" : ",";
      json::append_quoted(line, kept_names_[i]);
      line += ':';
      if (kept[i].is_json) {
        line += kept[i].text;
      } else {
        json::append_quoted(line, kept[i].text);
      }
    }
    return line;
  }

  /// Returns the line with the answer to a record that lies in line `number` of the input. `begin`
  /// is its beginning. `explanations` is what `write_explanations` writes, if the answer has that.
  [[nodiscard]] std::string answer(const std::string& begin, const Prediction& prediction,
                                   std::int64_t number,
                                   const std::string& explanations = {}) const {
    if (options_.format == AnswerFormat::csv) return row_of<CsvRow>(begin, prediction, number);
    if (options_.format == AnswerFormat::parquet) {
      return row_of<data::RowWriter>(begin, prediction, number);
    }
    if (options_.format == AnswerFormat::npy) {
      const auto& numbers = prediction.logits;
      return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
    }
    json::Writer out;
    out.begin_object();
    if (options_.has_line()) out.member("line", number);
    if (options_.uncertainty) out.member("uncertainty", uncertainty_of(prediction));
    write_members(
        out, prediction, *task_,
        {.top_k = options_.top_k, .logits = options_.top_k == 0, .min_score = options_.min_score});
    if (!explanations.empty()) out.key("explanations").raw(explanations);
    return with_beginning(begin, out.end_object().text());
  }

  /// Returns the line for a record without an answer.
  [[nodiscard]] std::string error(const std::string& begin, const InputError& error) const {
    const auto number = error.where().line;
    if (options_.format == AnswerFormat::npy) return {};
    if (options_.format == AnswerFormat::csv) return row_of<CsvRow>(begin, error.what(), number);
    if (options_.format == AnswerFormat::parquet) {
      return row_of<data::RowWriter>(begin, error.what(), number);
    }
    return with_beginning(begin, error_line(error));
  }

  /// Returns the uncertainty of a prediction by the measure of the options.
  [[nodiscard]] double uncertainty_of(const Prediction& prediction) const {
    return uncertainty(prediction.scores, task_->problem_type,
                       options_.uncertainty.value_or(Uncertainty::entropy));
  }

 private:
  /// Returns the name that a value of the input has in an answer. It differs from the answer's own
  /// and from those of other values.
  [[nodiscard]] std::string kept_name(const std::string& given) const {
    return free_name(given, "input_", [&](const std::string& name) {
      return is_own(name) || std::ranges::count(kept_names_, name) > 0 ||
             (name != given && std::ranges::count(options_.keep, name) > 0);
    });
  }

  /// Tells whether an answer has something else of this name.
  [[nodiscard]] bool is_own(std::string_view name) const {
    constexpr std::array<std::string_view, 11> own{"label", "labels",    "scores",   "score",
                                                   "value", "logits",    "window",   "error",
                                                   "line",  "abstained", "embedding"};
    return std::ranges::count(own, name) > 0 || name == "uncertainty" || name == "explanations" ||
           name == "values" ||
           (is_table() && std::ranges::count(own_columns_, name, &data::TableColumn::name) > 0);
  }

  [[nodiscard]] bool is_table() const {
    return options_.format == AnswerFormat::csv || options_.format == AnswerFormat::parquet;
  }

  /// Returns the row of an answer, or of an error, to a record in line `number` of the input.
  template <class Row, class Answer>
  [[nodiscard]] std::string row_of(const std::string& begin, const Answer& answer,
                                   std::int64_t number) const {
    Row row{begin};
    own_.append(row, answer, number);
    return std::move(row).finished();
  }

  template <class Row>
  [[nodiscard]] std::string begin_row(std::span<const data::KeptValue> kept) const {
    Row row;
    for (const data::KeptValue& value : kept) row.value(value);
    for (std::size_t i = kept.size(); i < options_.keep.size(); ++i) row.null();
    return std::move(row).unfinished();
  }

  static std::string with_beginning(const std::string& begin, const std::string& object) {
    return begin.empty() ? object : "{" + begin + "," + object.substr(1);
  }

  const Task* task_;
  AnswerOptions options_;
  AnswerColumns own_;
  std::vector<data::TableColumn> own_columns_;
  std::vector<std::string> kept_names_;  ///< [options_.keep]
};

}  // namespace seqtrain::predict
