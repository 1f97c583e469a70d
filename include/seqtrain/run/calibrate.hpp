#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/metrics/bootstrap.hpp>
#include <seqtrain/metrics/calibration.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/metrics/precision_recall.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/weights/write_config.hpp>

namespace seqtrain::run {

/// Returns the gold labels and the predicted labels of the examples that have a label.
[[nodiscard]] inline metrics::Decisions decisions(const Predictions& predictions,
                                                  const predict::Task& task) {
  using Label = metrics::Decisions::Label;
  metrics::Decisions result{predictions.labels(), task.problem_type};
  const auto ids = [](const std::vector<std::size_t>& labels) {
    return std::vector<Label>{labels.begin(), labels.end()};
  };
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (!predictions.labelled(i)) continue;
    result.add(ids(predictions.gold_labels(i)),
               ids(predict::chosen(predictions.logits_of(i), task)));
  }
  return result;
}

/// Returns bins of confidences with the share that is right. In single-label classification the
/// confidence is the score of the predicted label; in multi-label classification each label's score
/// counts, and it is right if the example has the label.
[[nodiscard]] inline std::vector<metrics::ReliabilityBin> reliability(
    const Predictions& predictions, const predict::Task& task) {
  std::vector<double> confidence;
  std::vector<std::uint8_t> right;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (!predictions.labelled(i)) continue;
    const auto scores = predict::scores(predictions.logits_of(i), task);
    if (task.problem_type == ProblemType::single_label) {
      const std::size_t said = predict::chosen(predictions.logits_of(i), task)[0];
      confidence.push_back(scores[said]);
      right.push_back(static_cast<std::int64_t>(said) == predictions.gold[i] ? 1 : 0);
      continue;
    }
    confidence.insert(confidence.end(), scores.begin(), scores.end());
    for (const float target : predictions.targets_of(i)) right.push_back(target > 0.5F ? 1 : 0);
  }
  return metrics::reliability(confidence, right);
}

/// Computes precision and recall of each label at each of its scores. It computes the sums of the
/// examples' exponentials once.
class LabelCurves {
 public:
  LabelCurves(const Predictions& predictions, const predict::Task& task)
      : predictions_{&predictions}, temperature_{task.temperature}, sums_(predictions.size()) {
    if (predictions.problem_type != ProblemType::single_label) return;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const auto row = predictions.logits.row(static_cast<Eigen::Index>(i)).cast<double>().array();
      largest_.push_back(row.maxCoeff());
      sums_[i] = ((row - largest_[i]) / temperature_).exp().sum();
    }
  }

  [[nodiscard]] std::vector<metrics::Operating> operator()(std::size_t label) const {
    std::vector<double> scores;
    std::vector<std::uint8_t> has;
    for (std::size_t i = 0; i < predictions_->size(); ++i) {
      if (!predictions_->labelled(i)) continue;
      scores.push_back(score(i, label));
      has.push_back(has_label(i, label) ? 1 : 0);
    }
    return metrics::precision_recall(scores, has);
  }

 private:
  [[nodiscard]] double score(std::size_t i, std::size_t label) const {
    const double logit = predictions_->logits_of(i)[label];
    if (largest_.empty()) return 1 / (1 + std::exp(-logit));
    return std::exp((logit - largest_[i]) / temperature_) / sums_[i];
  }
  [[nodiscard]] bool has_label(std::size_t i, std::size_t label) const {
    if (largest_.empty()) return predictions_->targets_of(i)[label] > 0.5F;
    return predictions_->gold[i] == static_cast<std::int64_t>(label);
  }

  const Predictions* predictions_;
  double temperature_;
  std::vector<double> largest_;
  std::vector<double> sums_;
};

/// A figure of the dev set before and after calibration.
struct CalibratedFigure {
  std::string name;
  double before = 0;
  double after = 0;
};

/// The calibration that was chosen on the dev set, with the figures that it changes.
struct Calibrated {
  weights::Calibration chosen = {};
  std::vector<CalibratedFigure> figures = {};

  /// Returns the task with the calibration applied.
  [[nodiscard]] predict::Task apply(predict::Task task) const {
    task.temperature = chosen.temperature;
    task.thresholds = chosen.thresholds;
    return task;
  }
};

namespace detail {

/// Returns the micro F1 and the macro F1 of decisions.
inline std::pair<double, double> f1_of(const metrics::Decisions& decisions) {
  metrics::Confusion counts = metrics::Confusion::Zero(
      static_cast<Eigen::Index>(decisions.labels()), metrics::label_counts);
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const auto gold = decisions.gold(i);
    const auto said = decisions.said(i);
    for (const auto label : gold) {
      const bool hit = std::ranges::find(said, label) != said.end();
      ++counts(label, hit ? metrics::true_positives : metrics::false_negatives);
    }
    for (const auto label : said) {
      if (std::ranges::find(gold, label) == gold.end()) ++counts(label, metrics::false_positives);
    }
  }
  const auto report = metrics::make_multi_label_report(counts, 0);
  return {metrics::micro_average(counts).f1, report.macro_average().f1};
}

inline Calibrated choose_temperature(const Predictions& predictions, const predict::Task& task) {
  Calibrated result;
  result.chosen.temperature = metrics::best_temperature(predictions.logits, predictions.gold);
  const auto error = [&](const predict::Task& with) {
    return metrics::expected_calibration_error(reliability(predictions, with));
  };
  const auto loss = [&](double temperature) {
    return metrics::tempered_loss(predictions.logits, predictions.gold, temperature);
  };
  result.figures = {{"expected_calibration_error", error(task), error(result.apply(task))},
                    {"loss", loss(1), loss(result.chosen.temperature)}};
  return result;
}

inline Calibrated choose_thresholds(const Predictions& predictions, const predict::Task& task,
                                    std::optional<double> precision) {
  Calibrated result;
  const LabelCurves curves{predictions, task};
  for (std::size_t label = 0; label < predictions.labels(); ++label) {
    const auto curve = curves(label);
    const auto found = precision ? metrics::threshold_of_precision(curve, *precision)
                                 : metrics::best_f1_threshold(curve);
    result.chosen.thresholds.push_back(found.above);
  }
  const auto [micro, macro] = f1_of(decisions(predictions, task));
  const auto [micro_after, macro_after] = f1_of(decisions(predictions, result.apply(task)));
  result.figures = {{"micro_f1", micro, micro_after}, {"macro_f1", macro, macro_after}};
  return result;
}

/// Returns the predictions without those with a logit that is not finite.
inline Predictions finite(const Predictions& predictions) {
  Predictions result{.problem_type = predictions.problem_type, .epoch = predictions.epoch};
  std::vector<float> logits;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const auto row = predictions.logits_of(i);
    if (!metrics::all_finite(row)) continue;
    logits.insert(logits.end(), row.begin(), row.end());
    result.rows.push_back(predictions.rows[i]);
    result.gold.push_back(predictions.gold[i]);
    if (predictions.targets.empty()) continue;
    const auto targets = predictions.targets_of(i);
    result.targets.insert(result.targets.end(), targets.begin(), targets.end());
  }
  result.logits = Eigen::Map<const metrics::Logits>{
      logits.data(), static_cast<Eigen::Index>(result.size()), predictions.logits.cols()};
  return result;
}

}  // namespace detail

/// Chooses on the predictions for a dev set a temperature for single-label classification, or a
/// threshold for each label of multi-label classification: the one with the greatest F1, or, if a
/// precision is given, with the greatest recall at that precision or a higher one. Predictions with
/// a logit that is not finite do not count. Throws `InputError` for regression, which has no
/// decisions.
[[nodiscard]] inline Calibrated calibrate(const Predictions& predictions, const predict::Task& task,
                                          std::optional<double> precision = {}) {
  if (task.problem_type == ProblemType::regression) {
    throw InputError{"regression has no decisions to calibrate", {.object = "--calibrate"}};
  }
  const Predictions counted = detail::finite(predictions);
  return task.problem_type == ProblemType::multi_label
             ? detail::choose_thresholds(counted, task, precision)
             : detail::choose_temperature(counted, task);
}

/// Returns a line about the calibration for the log, with the thresholds of at most eight labels.
[[nodiscard]] inline std::string to_text(const Calibrated& calibrated,
                                         std::span<const std::string> labels) {
  constexpr std::size_t most = 8;
  const auto number = [](double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4f", value);
    return std::string{text.data()};
  };
  const auto& [temperature, thresholds] = calibrated.chosen;
  std::string text = "Calibrated on dev: ";
  text += thresholds.empty() ? "temperature " + number(temperature) : "thresholds";
  for (std::size_t i = 0; i < std::min(most, thresholds.size()); ++i) {
    text += (i == 0 ? " " : ", ") + metrics::shown_label(labels, i) + " " + number(thresholds[i]);
  }
  if (thresholds.size() > most) {
    text += ", … and " + std::to_string(thresholds.size() - most) + " more";
  }
  for (const auto& [name, before, after] : calibrated.figures) {
    text += "; " + name + " " + number(before) + " before, " + number(after) + " after";
  }
  return text;
}

/// Appends the calibration to a JSON object as the member "calibration".
inline void append(json::Writer& out, const Calibrated& calibrated) {
  out.key("calibration").begin_object().member("temperature", calibrated.chosen.temperature);
  out.member("thresholds", calibrated.chosen.thresholds);
  for (const auto& [name, before, after] : calibrated.figures) {
    out.key(name).begin_object().member("before", before).member("after", after).end_object();
  }
  out.end_object();
}

}  // namespace seqtrain::run
