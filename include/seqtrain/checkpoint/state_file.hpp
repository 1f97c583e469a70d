#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/checkpoint/run_record.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/weights/model_config.hpp>

/// The content of a checkpoint's `trainer_state.json`: the fit's state and its run.
namespace seqtrain::checkpoint {

/// The run that a checkpoint belongs to.
struct RunDescription {
  std::string id = {};
  std::vector<Ancestor> lineage = {};  ///< runs that this one continues, the oldest first
  std::int64_t steps = 0;              ///< optimizer steps planned
  train::Pairs settings = {};          ///< flags that determine the result
  train::Pairs fit = {};               ///< options of `fit` that determine the result
  train::Pairs versions = {};          ///< versions of the program and its libraries, for people
};

namespace detail {

inline constexpr std::int64_t format = 2;

inline void append(json::Writer& out, const metrics::ClassificationReport& report) {
  out.begin_object().member("loss", report.loss).member("labels", report.confusion.rows());
  if (report.problem_type != ProblemType::single_label) {
    out.member("problem_type", name(report.problem_type))
        .member("examples", report.examples)
        .member("accuracy", report.accuracy);
  }
  out.key("confusion").begin_array();
  for (Eigen::Index row = 0; row < report.confusion.rows(); ++row) {
    for (const std::int64_t count : report.confusion.row(row)) out.value(count);
  }
  out.end_array();
  metrics::append(out, report.figures);
  out.end_object();
}

/// Returns the value, or NaN if it is absent or not a number.
inline double number_in(const std::optional<json::Value>& value) {
  return value && value->is_number() ? value->number() : std::numeric_limits<double>::quiet_NaN();
}

inline std::int64_t count_in(const json::Value& object, std::string_view name) {
  const auto value = object.at(name);
  if (value.integer() < 0) throw value.error("negative");
  return value.integer();
}

/// Reads confusion counts: a row for each label, with a column for each label or with the four
/// columns of a binary classifier.
inline metrics::Confusion confusion_in(const json::Value& report, ProblemType type) {
  const auto labels = report.at("labels").integer();
  const auto counts = report.at("confusion").items();
  const auto size = static_cast<std::int64_t>(counts.size());
  const auto columns = type == ProblemType::multi_label ? metrics::label_counts : labels;
  if (labels < 0 || labels > size || labels * columns != size) {
    throw report.error("the confusion counts do not fit the number of labels");
  }
  metrics::Confusion confusion(labels, columns);
  for (std::int64_t i = 0; i < size; ++i) {
    confusion(i / columns, i % columns) = counts[static_cast<std::size_t>(i)].integer();
  }
  return confusion;
}

/// Reads a report, without the metrics that a user added.
inline metrics::ClassificationReport figures_in(const json::Value& value) {
  const auto name_of_type = value.find("problem_type");
  for (const auto type : {ProblemType::language_modeling, ProblemType::loss_alone}) {
    if (!name_of_type || name_of_type->string() != name(type)) continue;
    return {.problem_type = type,
            .examples = count_in(value, "examples"),
            .loss = number_in(value.find("loss"))};
  }
  const auto type = weights::problem_type_in(value).value_or(ProblemType::single_label);
  const double loss = number_in(value.find("loss"));
  const auto confusion = confusion_in(value, type);
  if (type == ProblemType::single_label) return metrics::make_report(confusion, loss);
  if (type == ProblemType::multi_label) {
    return metrics::make_multi_label_report(confusion, number_in(value.find("accuracy")), loss);
  }
  return {.problem_type = type, .examples = count_in(value, "examples"), .loss = loss};
}

inline metrics::ClassificationReport report_in(const json::Value& value) {
  auto report = figures_in(value);
  if (const auto figures = value.find("metrics")) {
    for (const auto& [name, figure] : figures->members()) {
      report.figures.push_back({std::string{name}, number_in(figure)});
    }
  }
  return report;
}

}  // namespace detail

/// Throws `InputError` unless this program reads the file's format.
inline void check_format(const json::Value& root) {
  const auto format = root.at("format");
  if (format.integer() == detail::format) return;
  throw format.error("is " + std::to_string(format.integer()) + ", but this program reads format " +
                         std::to_string(detail::format),
                     "resume with the version of the program that wrote the checkpoint");
}

inline train::State state_in(const json::Value& root) {
  train::State state{.position = {.epoch = detail::count_in(root, "epoch"),
                                  .batch = detail::count_in(root, "batch"),
                                  .step = detail::count_in(root, "step")},
                     .skipped_steps = detail::count_in(root, "skipped_steps")};
  for (const auto& report : root.at("dev").items()) state.dev.push_back(detail::report_in(report));
  if (root.find("ended")) state.ended = detail::count_in(root, "ended");
  return state;
}

inline RunDescription run_in(const json::Value& root) {
  RunDescription run{.id = std::string{root.at("run").string()},
                     .steps = detail::count_in(root, "steps"),
                     .settings = train::pairs_in(root, "settings"),
                     .fit = train::pairs_in(root, "fit"),
                     .versions = train::pairs_in(root, "versions")};
  for (const auto& item : root.at("lineage").items()) {
    run.lineage.push_back({.run = std::string{item.at("run").string()},
                           .step = detail::count_in(item, "step"),
                           .steps = detail::count_in(item, "steps")});
  }
  return run;
}

inline std::string to_json(const train::State& state, const RunDescription& run) {
  json::Writer out{2};
  out.begin_object().member("format", detail::format);
  out.member("run", std::string_view{run.id}).key("lineage").begin_array();
  for (const auto& ancestor : run.lineage) {
    out.begin_object().member("run", std::string_view{ancestor.run});
    out.member("step", ancestor.step).member("steps", ancestor.steps).end_object();
  }
  out.end_array()
      .member("epoch", state.position.epoch)
      .member("batch", state.position.batch)
      .member("step", state.position.step)
      .member("steps", run.steps)
      .member("skipped_steps", state.skipped_steps);
  if (state.ended > 0) out.member("ended", state.ended);
  out.key("dev").begin_array();
  for (const auto& report : state.dev) detail::append(out, report);
  out.end_array();
  train::append(out, "settings", run.settings);
  train::append(out, "fit", run.fit);
  train::append(out, "versions", run.versions);
  return out.end_object().text() + "\n";
}

}  // namespace seqtrain::checkpoint
