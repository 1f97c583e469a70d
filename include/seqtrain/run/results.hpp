#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/baseline/scores.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/describe.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/run/advice.hpp>
#include <seqtrain/run/calibrate.hpp>
#include <seqtrain/run/cross_validation.hpp>
#include <seqtrain/run/fit_figures.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::run {

/// The mean and the maximum of a machine's figure over a run, such as the use of a GPU.
struct MachineFigure {
  std::string name;
  double mean = 0;
  double max = 0;
};

/// The results of a run, which `metrics.json` holds. NaN is written as null.
struct Results {
  std::vector<std::string> labels = {};  ///< names, in the order of the label ids
  std::optional<metrics::ClassificationReport> dev = {};
  std::optional<metrics::ClassificationReport> test = {};
  std::optional<baseline::Scores> baseline = {};         ///< scores of simple models on dev
  std::optional<CrossValidation> cross_validation = {};  ///< dev is then out of fold
  std::optional<data::DataSummary> data = {};
  FitFigures train = {};
  double peak_memory_mib = 0;
  std::vector<MachineFigure> machine = {};     ///< not written if empty
  std::optional<Calibrated> calibration = {};  ///< saved with the model as well
  std::vector<Advice> advice = {};
  std::size_t tuned_trials = 0;  ///< if the values are the best of a tuning
  train::Pairs flags = {};
  train::Pairs versions = {};
};

namespace detail {

/// Appends each label's scores, their averages and the confusion counts.
inline void append_labels(json::Writer& out, const metrics::ClassificationReport& report,
                          const std::vector<std::string>& names) {
  out.key("labels").begin_object();
  for (std::size_t i = 0; i < report.labels.size(); ++i) {
    out.key(metrics::label_name(names, i));
    metrics::append(out, report.labels[i]);
  }
  out.end_object();
  if (report.problem_type == ProblemType::multi_label) {
    out.key("micro_average");
    metrics::append(out, metrics::micro_average(report.confusion));
  }
  out.key("macro_average");
  metrics::append(out, report.macro_average());
  out.key("confusion").begin_array();
  for (Eigen::Index row = 0; row < report.confusion.rows(); ++row) {
    out.raw(json::Writer{}.value(report.confusion.row(row)).text());
  }
  out.end_array();
}

inline void append(json::Writer& out, std::string_view split,
                   const metrics::ClassificationReport& report,
                   const std::vector<std::string>& names) {
  const bool labelled = has_labels(report.problem_type);
  out.key(split).begin_object().member("problem_type", name(report.problem_type));
  if (labelled) out.member("accuracy", report.accuracy);
  out.member("loss", report.loss).member("examples", report.examples);
  metrics::append(out, report.figures);
  if (labelled) append_labels(out, report, names);
  out.end_object();
}

/// Appends the summary of a set of examples.
inline void append(json::Writer& out, std::string_view split, const data::SetSummary& set,
                   const std::vector<std::string>& labels) {
  const auto count = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  out.key(split).begin_object().member("examples", count(set.examples));
  if (!labels.empty()) {
    out.key("labels").begin_object();
    for (std::size_t i = 0; i < labels.size(); ++i) out.member(labels[i], count(set.labels[i]));
    out.end_object();
  }
  out.key("tokens").begin_object();
  out.member("median", count(set.median)).member("percentile_95", count(set.percentile_95));
  out.member("longest", count(set.longest)).end_object();
  out.member("at_max_length", count(set.at_max_length)).member("repeated", count(set.repeated));
  out.member("empty_texts", count(set.empty_texts)).member("left_out", count(set.left_out));
  if (split != "train") out.member("in_train", count(set.in_train));
  out.end_object();
}

inline void append(json::Writer& out, const std::vector<MachineFigure>& machine) {
  if (machine.empty()) return;
  out.key("machine").begin_object();
  for (const auto& [name, mean, max] : machine) {
    out.key(name).begin_object().member("mean", mean).member("max", max).end_object();
  }
  out.end_object();
}

}  // namespace detail

/// Returns the text of `metrics.json`.
inline std::string to_json(const Results& results) {
  json::Writer out{2};
  out.begin_object();
  if (results.dev) detail::append(out, "dev", *results.dev, results.labels);
  if (results.test) detail::append(out, "test", *results.test, results.labels);
  if (results.baseline) append(out, *results.baseline);
  if (results.cross_validation) append(out, *results.cross_validation);
  if (results.data) {
    out.key("data").begin_object();
    detail::append(out, "train", results.data->train, results.data->labels);
    detail::append(out, "dev", results.data->dev, results.data->labels);
    out.end_object();
  }
  out.key("train")
      .begin_object()
      .member("examples_per_second", results.train.examples_per_second)
      .member("tokens_per_second", results.train.tokens_per_second)
      .member("seconds", results.train.seconds)
      .member("steps", results.train.steps)
      .end_object();
  out.member("peak_memory_mib", results.peak_memory_mib);
  detail::append(out, results.machine);
  if (results.calibration) append(out, *results.calibration);
  append(out, results.advice);
  if (results.tuned_trials > 0) {
    out.key("tune").begin_object().member("trials", results.tuned_trials).end_object();
  }
  train::append(out, "flags", results.flags);
  train::append(out, "versions", results.versions);
  return out.end_object().text() + "\n";
}

/// Writes `metrics.json`, whole or not at all.
inline void save(const Results& results, const std::filesystem::path& file) {
  write_file_atomically(file, to_json(results));
}

}  // namespace seqtrain::run
