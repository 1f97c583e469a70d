#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/page/html/chart.hpp>

namespace seqtrain::page {

/// An evaluation that a run's log records.
struct LoggedEvaluation {
  std::string split = {};
  std::int64_t epoch = 0;  ///< epochs done
  std::int64_t step = 0;
  std::vector<metrics::Figure> figures = {};

  /// Returns a figure, or NaN if there is none with this name.
  [[nodiscard]] double figure(std::string_view name) const {
    return metrics::value_of(figures, name);
  }
};

/// A figure over the optimizer steps of a run.
struct LoggedCurve {
  std::string name = {};
  std::vector<html::Point> points = {};
};

/// An event at a step: the run was resumed, or a step was skipped.
struct LoggedMark {
  std::int64_t step = 0;
  std::string text = {};
};

/// The content of a run's log, which `JsonLines` has written.
struct RunLog {
  std::string begin = {};   ///< time of the first record, as ISO 8601 has it
  std::string last = {};    ///< time of the last record
  std::int64_t epochs = 0;  ///< epochs of the whole run
  std::int64_t steps = 0;   ///< steps of the whole run
  std::int64_t step = 0;    ///< step of the last record that has a step
  bool ended = false;       ///< training has ended
  double seconds = 0;       ///< time that the last process spent on training, including evaluations
  std::vector<LoggedCurve> curves = {};  ///< loss, learning_rate, …, machine/…
  std::vector<LoggedMark> marks = {};
  std::vector<LoggedEvaluation> evaluations = {};

  /// Returns the points of a curve; there are none if nothing was logged.
  [[nodiscard]] const std::vector<html::Point>& curve(std::string_view name) const {
    static const std::vector<html::Point> none;
    const auto found = std::ranges::find(curves, name, &LoggedCurve::name);
    return found == curves.end() ? none : found->points;
  }

  /// Returns a figure of dev over the steps of its evaluations.
  [[nodiscard]] std::vector<html::Point> dev_curve(std::string_view figure) const {
    std::vector<html::Point> points;
    for (const auto& each : evaluations) {
      if (each.split != "dev") continue;
      points.push_back({static_cast<double>(each.step), each.figure(figure)});
    }
    return points;
  }
};

namespace detail {

/// Builds a `RunLog` from the lines of a log.
class LogReader {
 public:
  RunLog log;

  /// Adds a record. Ignores one that it does not understand.
  void add(std::string_view line) {
    simdjson::dom::object record;
    std::string_view event;
    if (parser_.parse(line.data(), line.size()).get(record) != simdjson::SUCCESS) return;
    if (record["event"].get(event) != simdjson::SUCCESS) return;
    const std::string_view time = text(record, "time");
    if (log.begin.empty()) log.begin = time;
    log.last = time;
    if (event == "begin") return begin(record);
    if (event == "step") return step(record);
    if (event == "eval") return evaluation(record);
    if (event == "skipped") return mark(record, "skipped");
    if (event != "end") return;
    log.ended = true;
    log.seconds = number(record, "seconds");
  }

 private:
  using Object = simdjson::dom::object;

  static double number(const Object& record, std::string_view key) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    return record[key].get(value) == simdjson::SUCCESS ? value : none;
  }
  static std::int64_t integer(const Object& record, std::string_view key) {
    std::int64_t value = 0;
    return record[key].get(value) == simdjson::SUCCESS ? value : 0;
  }
  static std::string_view text(const Object& record, std::string_view key) {
    std::string_view value;
    return record[key].get(value) == simdjson::SUCCESS ? value : std::string_view{};
  }

  void mark(const Object& record, const std::string& what) {
    log.marks.push_back({integer(record, "step"), what});
  }

  void begin(const Object& record) {
    log.epochs = integer(record, "epochs");
    log.steps = integer(record, "steps");
    log.ended = false;
    if (integer(record, "step") > 0) mark(record, "resumed");
  }

  void point(const std::string& name, double x, double y) {
    if (std::isnan(y)) return;
    auto curve = std::ranges::find(log.curves, name, &LoggedCurve::name);
    if (curve == log.curves.end()) curve = log.curves.insert(curve, {.name = name});
    curve->points.push_back({x, y});
  }

  void step(const Object& record) {
    log.step = integer(record, "step");
    const auto x = static_cast<double>(log.step);
    for (const char* name : {"loss", "gradient_norm", "learning_rate", "tokens_per_second"}) {
      point(name, x, number(record, name));
    }
    Object machine;
    if (record["machine"].get(machine) != simdjson::SUCCESS) return;
    for (const auto field : machine) {
      double value = 0;
      if (field.value.get(value) == simdjson::SUCCESS) {
        point("machine/" + std::string{field.key}, x, value);
      }
    }
  }

  void evaluation(const Object& record) {
    LoggedEvaluation made{.split = std::string{text(record, "split")},
                          .epoch = integer(record, "epoch"),
                          .step = integer(record, "step")};
    for (const char* name : {"loss", "accuracy", "macro_f1"}) {
      const double value = number(record, name);
      if (!std::isnan(value)) made.figures.push_back({name, value});
    }
    Object own;
    if (record["metrics"].get(own) == simdjson::SUCCESS) {
      for (const auto field : own) {
        double value = 0;
        const bool known = !std::isnan(made.figure(field.key));
        if (!known && field.value.get(value) == simdjson::SUCCESS) {
          made.figures.push_back({std::string{field.key}, value});
        }
      }
    }
    log.evaluations.push_back(std::move(made));
  }

  simdjson::dom::parser parser_;
};

}  // namespace detail

/// Reads the text of a log. An incomplete last line is left out.
[[nodiscard]] inline RunLog read_run_log(std::string_view text) {
  detail::LogReader reader;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    reader.add(text.substr(0, end));
  }
  return std::move(reader.log);
}

/// Reads a run's log, or `<file>.partial` while the run is under way. Returns an empty log if there
/// is none.
[[nodiscard]] inline RunLog load_run_log(const std::filesystem::path& file) {
  auto partial = file;
  partial += ".partial";
  for (const auto& path : {partial, file}) {
    std::error_code none;
    if (!std::filesystem::exists(path, none)) continue;
    return read_run_log(MappedFile{path}.text());
  }
  return {};
}

}  // namespace seqtrain::page
