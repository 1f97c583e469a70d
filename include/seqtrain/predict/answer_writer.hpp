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
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/csv_cell.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/uncertainty.hpp>

namespace seqtrain::predict {

/// The form of the lines of answers.
enum class AnswerFormat {
  json_lines,  ///< a JSON object a line
  csv,         ///< RFC 4180 with a header, in which lines end with LF
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
};

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
      : task_{&task}, options_{std::move(options)} {}

  [[nodiscard]] const AnswerOptions& options() const { return options_; }

  /// Returns the line before all answers, with its line end; "" if the format has none.
  [[nodiscard]] std::string header() const {
    if (options_.format != AnswerFormat::csv) return {};
    std::string line;
    for (const auto& name : options_.keep) add_cell(line, kept_name(name));
    if (options_.uncertainty) line += "line,uncertainty,";
    const auto& labels = task_->labels;
    if (has_several_values(*task_)) {
      for (const auto& name : labels) add_cell(line, name);
    } else if (task_->problem_type == ProblemType::regression) {
      line += "value,";
    } else {
      line += task_->problem_type == ProblemType::multi_label ? "labels," : "label,score,";
      for (std::size_t i = 0; i < labels.size() && options_.top_k == 0; ++i) {
        add_cell(line, "score_" + label_name(labels, i));
      }
      for (std::size_t i = first_rank(); i < ranks(); ++i) {
        const std::string rank = std::to_string(i + 1);
        line += "label_" + rank + ",score_" + rank + ",";
      }
    }
    return line + "error\n";
  }

  /// Returns what ends each line.
  [[nodiscard]] std::string_view line_end() const {
    return options_.format == AnswerFormat::npy ? "" : "\n";
  }

  /// Returns the beginning of a record's line, with the values of the input. A record that could
  /// not be read has none.
  [[nodiscard]] std::string begin(std::span<const data::KeptValue> kept) const {
    std::string line;
    if (options_.format == AnswerFormat::csv) {
      for (const auto& [text, is_json] : kept) {
        const bool is_null = is_json && text == "null";
        add_cell(line, is_null ? std::string_view{} : text);
      }
      for (std::size_t i = kept.size(); i < options_.keep.size(); ++i) line += ',';
      return line;
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      line += i == 0 ? "" : ",";
      json::append_quoted(line, kept_name(options_.keep[i]));
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
    if (options_.format == AnswerFormat::csv) return begin + csv_answer(prediction, number);
    if (options_.format == AnswerFormat::npy) {
      const auto& numbers = prediction.logits;
      return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
    }
    json::Writer out;
    out.begin_object();
    if (options_.uncertainty) {
      out.member("line", number).member("uncertainty", uncertainty_of(prediction));
    }
    write_members(
        out, prediction, *task_,
        {.top_k = options_.top_k, .logits = options_.top_k == 0, .min_score = options_.min_score});
    if (!explanations.empty()) out.key("explanations").raw(explanations);
    return with_beginning(begin, out.end_object().text());
  }

  /// Returns the line for a record without an answer.
  [[nodiscard]] std::string error(const std::string& begin, const InputError& error) const {
    if (options_.format == AnswerFormat::npy) return {};
    if (options_.format != AnswerFormat::csv) return with_beginning(begin, error_line(error));
    std::string line = begin;
    if (options_.uncertainty) line += std::to_string(error.where().line) + ",,";
    const bool one = task_->problem_type == ProblemType::single_label;
    const bool is_number = task_->problem_type == ProblemType::regression;
    const std::size_t scores =
        options_.top_k == 0 ? task_->labels.size() : 2 * (ranks() - first_rank());
    line.append(is_number ? values() : scores + (one ? 2 : 1), ',');
    add_cell(line, error.what());
    line.pop_back();
    return line;
  }

  /// Returns the uncertainty of a prediction by the measure of the options.
  [[nodiscard]] double uncertainty_of(const Prediction& prediction) const {
    return uncertainty(prediction.scores, task_->problem_type,
                       options_.uncertainty.value_or(Uncertainty::entropy));
  }

 private:
  /// Returns the name that a value of the input has in an answer, which differs from the answer's
  /// own.
  [[nodiscard]] std::string kept_name(const std::string& name) const {
    constexpr std::array<std::string_view, 11> own{"label", "labels",    "scores",   "score",
                                                   "value", "logits",    "window",   "error",
                                                   "line",  "abstained", "embedding"};
    const bool is_target =
        has_several_values(*task_) && std::ranges::count(task_->labels, name) > 0;
    const bool is_own = std::ranges::count(own, name) > 0 || name == "uncertainty" ||
                        name == "explanations" || name == "values" || is_target;
    return is_own ? "input_" + name : name;
  }

  /// Returns the number of values of a regression.
  [[nodiscard]] std::size_t values() const {
    return std::max<std::size_t>(1, task_->labels.size());
  }
  /// Returns the number of best labels that are in CSV.
  [[nodiscard]] std::size_t ranks() const { return std::min(options_.top_k, task_->labels.size()); }
  /// Returns the first of them that has columns of its own: the best one of one label has `label`
  /// and `score`.
  [[nodiscard]] std::size_t first_rank() const {
    return task_->problem_type == ProblemType::single_label ? std::min<std::size_t>(1, ranks()) : 0;
  }

  static std::string with_beginning(const std::string& begin, const std::string& object) {
    return begin.empty() ? object : "{" + begin + "," + object.substr(1);
  }

  static void add_cell(std::string& line, std::string_view text) {
    data::append_csv_cell(line, text);
    line += ',';
  }

  static void add_number(std::string& line, double number) {
    json::Writer out;
    out.value(number);
    line.append(out.text()).append(",");
  }

  [[nodiscard]] std::string csv_answer(const Prediction& prediction, std::int64_t number) const {
    std::string line;
    if (options_.uncertainty) {
      line += std::to_string(number) + ",";
      add_number(line, uncertainty_of(prediction));
    }
    if (task_->problem_type == ProblemType::regression) {
      for (std::size_t k = 0; k < values(); ++k) {
        json::Writer out;
        out.value(prediction.logits[k]);  // with the digits of a float
        line += out.text() + ",";
      }
      return line;
    }
    if (task_->problem_type == ProblemType::multi_label) {
      std::string names;
      for (const std::size_t id : prediction.labels) {
        names += (names.empty() ? "" : ",") + label_name(task_->labels, id);
      }
      add_cell(line, names);
    } else {
      const std::size_t id = prediction.labels[0];
      const bool none = abstains(prediction, *task_, options_.min_score);
      add_cell(line, none ? "" : label_name(task_->labels, id));
      add_number(line, prediction.scores[id]);
    }
    for (std::size_t id = 0; id < prediction.scores.size() && options_.top_k == 0; ++id) {
      add_number(line, prediction.scores[id]);
    }
    const auto best = greatest(prediction.scores, ranks());
    for (const std::size_t id : std::span{best}.subspan(first_rank())) {
      add_cell(line, label_name(task_->labels, id));
      add_number(line, prediction.scores[id]);
    }
    return line;
  }

  const Task* task_;
  AnswerOptions options_;
};

}  // namespace seqtrain::predict
