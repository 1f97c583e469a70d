#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/table_rows.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/uncertainty.hpp>

namespace seqtrain::predict {

/// The form of the lines of answers.
enum class AnswerFormat {
  json_lines,  ///< a JSON object a line
  csv,         ///< RFC 4180 with a header, in which lines end with LF
  parquet,     ///< the rows of a `data::TableFile`
  npy          ///< the bytes of each embedding, for a `NpyFile`; a record without one has none
};

/// Options of the answers to a stream of texts.
struct AnswerOptions {
  AnswerFormat format = AnswerFormat::json_lines;
  std::size_t top_k = 0;  ///< see `JsonOptions`; with it there are no logits
  double min_score = 0;   ///< see `abstains`
  /// The names of the values of the input that an answer has too.
  std::vector<std::string> keep = {};
  /// A measure that each answer has, with the number of its record's line.
  std::optional<Uncertainty> uncertainty = {};
  bool line = false;  ///< each answer has the number of its record's line

  [[nodiscard]] bool has_line() const { return line || uncertainty; }
};

/// Returns a name with a prefix, as often as it takes until `is_taken(name)` is false.
template <class IsTaken>
[[nodiscard]] std::string free_name(std::string name, std::string_view prefix,
                                    const IsTaken& is_taken) {
  while (is_taken(name)) name.insert(0, prefix);
  return name;
}

/// The columns that a table of answers has after the values of the input, in CSV and in Parquet.
class AnswerColumns {
 public:
  AnswerColumns(const Task& task, const AnswerOptions& options)
      : task_{&task},
        top_k_{options.top_k},
        min_score_{options.min_score},
        uncertainty_{options.uncertainty},
        has_line_{options.has_line()} {}

  /// Returns the columns, whose names differ. The last one is `error`.
  [[nodiscard]] std::vector<data::TableColumn> columns() const {
    using enum data::ColumnType;
    std::vector<data::TableColumn> columns;
    if (has_line_) columns.push_back({"line", integer});
    if (uncertainty_) columns.push_back({"uncertainty", real});
    if (task_->embeds()) {
      columns.push_back({"embedding", floats, task_->embedding_size});
    } else if (has_several_values(*task_)) {
      for (std::size_t i = 0; i < task_->labels.size(); ++i) {
        columns.push_back({label_name(task_->labels, i), float32});
      }
    } else if (task_->problem_type == ProblemType::regression) {
      columns.push_back({"value", float32});
    } else {
      add_labels(columns);
    }
    columns.push_back({"error", text});
    make_unique(columns);
    return columns;
  }

  /// Returns the number of best labels that have columns of their own.
  [[nodiscard]] std::size_t ranks() const { return std::min(top_k_, task_->labels.size()); }
  /// Returns the first of them that has columns with its rank: the best one of one label has
  /// `label` and `score`.
  [[nodiscard]] std::size_t first_rank() const {
    return task_->problem_type == ProblemType::single_label ? std::min<std::size_t>(1, ranks()) : 0;
  }

  /// Appends to a `RowWriter` or a `CsvRow` the cells of an answer to a record in line `number` of
  /// the input.
  template <class Row>
  void append(Row& row, const Prediction& prediction, std::int64_t number) const {
    if (has_line_) row.integer(number);
    if (uncertainty_) {
      row.real(uncertainty(prediction.scores, task_->problem_type, *uncertainty_));
    }
    if (task_->embeds()) {
      row.floats(prediction.logits);
    } else if (task_->problem_type == ProblemType::regression) {
      for (const float value : prediction.logits) row.real(value);
    } else {
      append_labels(row, prediction);
    }
    row.null();
  }

  /// Appends the cells of a record in line `number` that has no answer.
  template <class Row>
  void append(Row& row, const std::string& error, std::int64_t number) const {
    std::size_t nulls = columns().size() - 1;
    if (has_line_) {
      row.integer(number);
      --nulls;
    }
    for (std::size_t i = 0; i < nulls; ++i) row.null();
    row.text(error);
  }

 private:
  /// Renames columns of targets or labels that have a name of another column.
  void make_unique(std::vector<data::TableColumn>& columns) const {
    const std::size_t first = (has_line_ ? 1 : 0) + (uncertainty_ ? 1 : 0);
    const auto count = [](std::span<const data::TableColumn> some, const std::string& name) {
      return std::ranges::count(some, name, &data::TableColumn::name);
    };
    for (std::size_t i = first; i + 1 < columns.size(); ++i) {
      const std::string given = columns[i].name;
      columns[i].name = free_name(given, "value_", [&](const std::string& name) {
        const bool is_fixed = name == "line" || name == "uncertainty" || name == "error";
        return is_fixed || count(std::span{columns}.first(i), name) > 0 ||
               (name != given && count(columns, name) > 0);
      });
    }
  }

  void add_labels(std::vector<data::TableColumn>& columns) const {
    using enum data::ColumnType;
    if (task_->problem_type == ProblemType::multi_label) {
      columns.push_back({"labels", texts});
    } else {
      columns.insert(columns.end(), {{"label", text}, {"score", real}});
    }
    for (std::size_t i = 0; i < task_->labels.size() && top_k_ == 0; ++i) {
      columns.push_back({"score_" + label_name(task_->labels, i), real});
    }
    for (std::size_t i = first_rank(); i < ranks(); ++i) {
      const std::string rank = std::to_string(i + 1);
      columns.insert(columns.end(), {{"label_" + rank, text}, {"score_" + rank, real}});
    }
  }

  template <class Row>
  void append_labels(Row& row, const Prediction& prediction) const {
    if (task_->problem_type == ProblemType::multi_label) {
      std::vector<std::string> names;
      for (const std::size_t id : prediction.labels) names.push_back(label_name(task_->labels, id));
      row.texts(names);
    } else {
      const std::size_t id = prediction.labels[0];
      if (abstains(prediction, *task_, min_score_)) {
        row.null();
      } else {
        row.text(label_name(task_->labels, id));
      }
      row.real(prediction.scores[id]);
    }
    for (std::size_t id = 0; id < prediction.scores.size() && top_k_ == 0; ++id) {
      row.real(prediction.scores[id]);
    }
    const auto best = greatest(prediction.scores, ranks());
    for (const std::size_t id : std::span{best}.subspan(first_rank())) {
      row.text(label_name(task_->labels, id));
      row.real(prediction.scores[id]);
    }
  }

  const Task* task_;
  std::size_t top_k_;
  double min_score_;
  std::optional<Uncertainty> uncertainty_;
  bool has_line_;
};

}  // namespace seqtrain::predict
