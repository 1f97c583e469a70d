#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/report/summary.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/selection.hpp>

namespace seqtrain::report {

/// Options of `Trials`.
struct TrialsOptions {
  bool enabled = false;  ///< if false, nothing is written
  /// The name of the figure to report, and its tag in the file. Empty means accuracy if an example
  /// has one label, micro_f1 if it may have several, and the loss otherwise.
  std::string metric = {};
  /// Called once, with the reason, if the file cannot be written or there is no such figure.
  std::function<void(std::string_view)> warn = {};
};

/// An observer that reports a trial's figure to a service that tunes hyperparameters: after each
/// evaluation of the dev split it writes a line in the format of Google's `cloudml-hypertune`. The
/// file is named by CLOUD_ML_HP_METRIC_FILE, else /tmp/hypertune/output.metrics, and keeps the last
/// 100 lines. CLOUD_ML_TRIAL_ID names the trial, "0" if it is not set. If the file cannot be
/// written, training continues.
class Trials {
 public:
  explicit Trials(TrialsOptions options = {}) : options_{std::move(options)} {}

  void on(const train::EvalEnd& event) {
    if (!options_.enabled || event.split != "dev") return;
    const auto figure = train::Selection{.metric = options_.metric}.figure(event.report);
    if (!figure) {
      return warn(
          Error{"there is no metric '" + options_.metric + "'", {.object = file_.string()}});
    }
    lines_.push_back(line(*figure, event.step));
    if (lines_.size() > most_lines) lines_.pop_front();
    try {
      with_file_errors([this] { write(); });
    } catch (const Error& error) {
      warn(error);
    }
  }

 private:
  static constexpr std::size_t most_lines = 100;

  /// Returns a variable of the environment. Like hypertune, it takes an empty value as it is.
  static std::string variable(const char* name, const char* otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr ? otherwise : value;
  }

  [[nodiscard]] std::string line(const metrics::Figure& figure, std::int64_t step) const {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    std::map<std::string, std::string> members{{"trial", trial_}};
    members.insert_or_assign(figure.name, text_of(figure.value));
    members.insert_or_assign("global_step", std::to_string(step));
    members.insert_or_assign("checkpoint_path", "");
    json::Writer out;
    out.begin_object().member("timestamp", now.count());
    for (const auto& [name, value] : members) out.member(name, value);
    return out.end_object().text() + "\n";
  }

  /// Returns a number as text, as Python reads it, also `nan` and `inf`.
  static std::string text_of(double number) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
  }

  void write() const {
    if (file_.has_parent_path()) std::filesystem::create_directories(file_.parent_path());
    AtomicFile file{file_};
    for (const auto& line : lines_) file.write(line);
    file.commit();
  }

  void warn(const Error& error) {
    if (options_.warn && !warned_) {
      options_.warn(std::string{error.what()} + "; the tuning service is not told how good this " +
                    "trial is, and training goes on");
    }
    warned_ = true;
  }

  TrialsOptions options_;
  std::filesystem::path file_ =
      variable("CLOUD_ML_HP_METRIC_FILE", "/tmp/hypertune/output.metrics");
  std::string trial_ = valid_utf8(variable("CLOUD_ML_TRIAL_ID", "0"));
  std::deque<std::string> lines_;
  bool warned_ = false;
};

}  // namespace seqtrain::report
