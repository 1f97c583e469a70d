#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/metrics/label_errors.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/run/predictions.hpp>

namespace seqtrain::run {

/// A figure of each model of a cross-validation.
struct FoldFigure {
  std::string name = {};
  std::vector<double> each = {};  ///< the value in each fold; NaN if it has none

  /// NaN if a fold has no such figure.
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double value : each) sum += value;
    return sum / static_cast<double>(each.size());
  }

  /// Returns the standard deviation of a sample: with the number of values less one as divisor. NaN
  /// if a fold has no such figure.
  [[nodiscard]] double deviation() const {
    double squares = 0;
    for (const double value : each) squares += (value - mean()) * (value - mean());
    return std::sqrt(squares / static_cast<double>(each.size() - 1));
  }
};

/// The figures of a cross-validation, for `metrics.json`.
struct CrossValidation {
  std::vector<FoldFigure> figures = {};
  std::vector<FoldFigure> baseline = {};  ///< those of simple models, if there are any
  std::size_t folds = 0;
  std::size_t left_out = 0;      ///< examples that have no prediction, because they are too many
  std::size_t label_errors = 0;  ///< labels that are probably wrong
  std::size_t equal_texts = 0;   ///< texts that have different labels in different places
};

namespace detail {

inline void append(json::Writer& out, std::string_view key,
                   const std::vector<FoldFigure>& figures) {
  out.key(key).begin_object();
  for (const FoldFigure& figure : figures) {
    out.key(figure.name).begin_object().member("mean", figure.mean());
    out.member("standard_deviation", figure.deviation()).member("each", figure.each).end_object();
  }
  out.end_object();
}

}  // namespace detail

/// Appends the member `cross_validation` of metrics.json.
inline void append(json::Writer& out, const CrossValidation& all) {
  out.key("cross_validation").begin_object().member("folds", all.folds);
  detail::append(out, "figures", all.figures);
  if (!all.baseline.empty()) detail::append(out, "baseline", all.baseline);
  out.member("examples_without_prediction", all.left_out)
      .member("label_errors", all.label_errors)
      .member("equal_texts_with_different_labels", all.equal_texts)
      .end_object();
}

namespace detail {

/// Adds a figure of the fold with this number, counted from 1. A fold without it has NaN.
inline void add(std::vector<FoldFigure>& figures, std::string name, const json::Value& value,
                std::size_t fold) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto known = std::ranges::find(figures, name, &FoldFigure::name);
  auto& figure =
      known == figures.end() ? figures.emplace_back(FoldFigure{.name = std::move(name)}) : *known;
  figure.each.resize(fold, none);
  if (value.is_number()) figure.each.back() = value.number();
}

/// Adds the numbers of a split, its metrics and the F1 of its averages.
inline void add_all(std::vector<FoldFigure>& figures, const json::Value& split, std::size_t fold) {
  for (const auto& [name, value] : split.members()) {
    if (name != "examples" && (value.is_number() || split.has_null(name))) {
      add(figures, std::string{name}, value, fold);
    }
  }
  if (const auto metrics = split.find("metrics")) {
    for (const auto& [name, value] : metrics->members()) {
      if (!name.ends_with("_f1")) add(figures, std::string{name}, value, fold);
    }
  }
  for (const char* average : {"macro", "micro"}) {
    const std::string key = std::string{average} + "_average";
    if (const auto found = split.find(key)) {
      add(figures, std::string{average} + "_f1", found->at("f1"), fold);
    }
  }
}

}  // namespace detail

/// Adds the figures in the `metrics.json` of a fold's run.
inline void add_fold(CrossValidation& all, const json::Value& metrics) {
  ++all.folds;
  detail::add_all(all.figures, metrics.at("dev"), all.folds);
  if (const auto simple = metrics.find("baseline")) {
    for (const auto& [name, figures] : simple->members()) {
      if (!figures.is_object()) continue;
      for (const auto& [figure, value] : figures.members()) {
        detail::add(all.baseline, std::string{name} + " " + std::string{figure}, value, all.folds);
      }
    }
  }
  for (auto* const figures : {&all.figures, &all.baseline}) {
    for (auto& figure : *figures) {
      figure.each.resize(all.folds, std::numeric_limits<double>::quiet_NaN());
    }
  }
}

/// An example that the model of its fold, which had not learned from it, has predicted.
struct OutOfFold : ReadPrediction {
  std::int64_t fold = 0;  ///< counted from 1
};

/// Appends the predictions of a fold's run, from its `predictions.jsonl`.
inline void read_fold(std::vector<OutOfFold>& all, const std::filesystem::path& file,
                      std::int64_t fold) {
  const MappedFile content{file};
  for (auto& read : read_predictions(content.text(), "dev", file.string())) {
    all.push_back({std::move(read), fold});
  }
}

/// Returns the sentence that tells how many of the examples have no prediction, or "" if all have
/// one. `KeptPredictions` leaves them out.
[[nodiscard]] inline std::string left_out_warning(std::size_t left_out, std::size_t examples) {
  if (left_out == 0) return {};
  return std::to_string(left_out) + " of " + std::to_string(examples) +
         " examples have no prediction in out_of_fold.jsonl, and their labels are not looked at: a "
         "fold keeps at most " +
         std::to_string(KeptPredictions::most_logits) + " scores; take more folds";
}

/// Writes `out_of_fold.jsonl`, one object a line for each example: `{"row": 1, "fold": 3, "gold":
/// "neutral", "predicted": "entailment", "scores": [0.7, 0.2, 0.1], "loss": 1.61}`. Its members are
/// those of `predictions.jsonl`.
inline void write_out_of_fold(const std::filesystem::path& file, std::span<const OutOfFold> all) {
  AtomicFile out{file};
  for (const OutOfFold& one : all) {
    json::Writer line;
    line.begin_object().member("row", one.row).member("fold", one.fold);
    line.key("gold").raw(one.gold).key("predicted").raw(one.predicted);
    if (!one.scores.empty()) {
      line.key("scores").begin_array();
      for (const double score : one.scores) line.value(static_cast<float>(score));
      line.end_array();
    }
    line.member("loss", static_cast<float>(one.loss)).end_object();
    out.write(line.text() + "\n");
  }
  out.commit();
}

namespace detail {

/// Returns the id of a label whose name is written as JSON, or -1.
inline std::int32_t label_id(const std::string& text, std::span<const std::string> labels) {
  if (!text.starts_with('"')) return -1;
  const auto document = json::Document::parse(text, "label");
  const auto found = std::ranges::find(labels, document.root().string());
  return found == labels.end() ? -1 : static_cast<std::int32_t>(found - labels.begin());
}

/// Returns the numbers of several targets in an object by their names.
inline std::vector<float> values_of(const json::Value& object, std::span<const std::string> names) {
  std::vector<float> values;
  for (const auto& name : names) {
    const auto value = object.find(name);
    values.push_back(value && value->is_number() ? static_cast<float>(value->number())
                                                 : std::numeric_limits<float>::quiet_NaN());
  }
  return values;
}

/// Returns the targets that a gold answer stands for: a number, a number for each target, or a 0 or
/// 1 for each label.
inline std::vector<float> targets_of(const OutOfFold& one, std::span<const std::string> labels) {
  const auto document = json::Document::parse(one.gold, "gold");
  if (document.root().is_number()) return {static_cast<float>(document.root().number())};
  if (document.root().is_object()) return values_of(document.root(), labels);
  std::vector<float> targets(labels.size());
  for (const auto& name : document.root().items()) {
    const auto found = std::ranges::find(labels, name.string());
    if (found != labels.end()) targets[static_cast<std::size_t>(found - labels.begin())] = 1;
  }
  return targets;
}

/// Returns logits that give an example's prediction, or nothing if it has none.
inline std::vector<float> logits_of(const OutOfFold& one, ProblemType type,
                                    std::span<const std::string> labels) {
  if (type == ProblemType::regression) {
    if (one.predicted == "null") return {};  // a number was not finite
    const auto document = json::Document::parse(one.predicted, "predicted");
    if (document.root().is_object()) return values_of(document.root(), labels);
    return {static_cast<float>(document.root().number())};
  }
  std::vector<float> logits;
  for (const double score : one.scores) {
    const bool several = type == ProblemType::multi_label;
    logits.push_back(static_cast<float>(several ? std::log(score / (1 - score)) : score));
  }
  return logits;
}

}  // namespace detail

/// Returns the figures of all examples that have a prediction, each by the model of its fold.
[[nodiscard]] inline metrics::ClassificationReport report_of(std::span<const OutOfFold> all,
                                                             std::span<const std::string> labels,
                                                             ProblemType type) {
  metrics::Evaluation evaluation{type, {labels.begin(), labels.end()}};
  double loss = 0;
  std::size_t count = 0;
  for (const OutOfFold& one : all) {
    const auto row = type != ProblemType::regression && one.scores.empty()
                         ? std::vector<float>{}
                         : detail::logits_of(one, type, labels);
    if (row.empty() || one.gold == "null") continue;
    const Eigen::Map<const Eigen::RowVectorXf> logits{row.data(), std::ssize(row)};
    const bool single = type == ProblemType::single_label;
    const std::int64_t label = single ? detail::label_id(one.gold, labels) : 0;
    evaluation.add(logits, {&label, 1},
                   single ? std::vector<float>{} : detail::targets_of(one, labels));
    loss += one.loss;
    ++count;
  }
  auto report = evaluation.report();
  report.loss = loss / static_cast<double>(count);
  return report;
}

/// Returns the labels that are probably wrong, by confident learning. The `row` of each is its
/// index in `all`. Examples without a label or without scores are left out.
[[nodiscard]] inline std::vector<metrics::LabelError> find_label_errors(
    std::span<const OutOfFold> all, std::span<const std::string> labels) {
  std::vector<std::size_t> rows;
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int32_t id = detail::label_id(all[i].gold, labels);
    if (id < 0 || all[i].scores.size() != labels.size()) continue;
    rows.push_back(i);
    ids.push_back(id);
  }
  if (rows.empty()) return {};
  metrics::LabelScores2d scores(std::ssize(rows), std::ssize(labels));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& given = all[rows[i]].scores;
    scores.row(static_cast<Eigen::Index>(i)) =
        Eigen::Map<const Eigen::RowVectorXd>{given.data(), std::ssize(given)};
  }
  auto found = metrics::find_label_errors(scores, ids).rows;
  for (auto& error : found) error.row = rows[error.row];
  return found;
}

}  // namespace seqtrain::run
