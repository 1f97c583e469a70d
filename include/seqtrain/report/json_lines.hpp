#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/system_error.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/report/logged_loss.hpp>
#include <seqtrain/report/pace.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

/// Options of `JsonLines`.
struct JsonLinesOptions {
  /// Most batches from one record of a step to the next; 0: `usual_interval`.
  std::int64_t every = 0;
  /// Called with the reason if the log cannot be written.
  std::function<void(std::string_view)> warn = {};
  /// Returns the machine's figures for a step's record, as `Machine::latest` does.
  std::function<std::vector<metrics::Figure>()> machine = {};
};

/// An observer that writes a run's log: one JSON object per line and one line per event. Each line
/// is handed to the system at once. The file appears when the fit begins. If an earlier run has a
/// file of that name, it stays until the fit has ended; until then the new log is `<file>.partial`.
/// A step's record has the mean loss since the last record, as `LoggedLoss` has it. A resumed fit
/// continues its log, without the records past its checkpoint. If the log cannot be
/// written, it ends there until the next fit begins, and training continues.
class JsonLines {
 public:
  explicit JsonLines(std::filesystem::path file, const JsonLinesOptions& options = {})
      : file_{std::move(file)},
        warn_{options.warn},
        machine_{options.machine},
        losses_{options.every} {}

  void on(const train::FitBegin& event) {
    out_ = {};
    attempt([&] { event.position == train::Position{} ? open() : open_again(event.position); });
    pace_ = {};
    losses_.begin(event);
    write(record("begin")
              .member("epochs", event.epochs)
              .member("steps", event.steps)
              .member("examples", event.examples)
              .member("step", event.position.step));
  }

  void on(const train::StepSkipped& event) {
    write(record("skipped").member("step", event.step).member("problem", event.problem));
  }

  void on(const train::StepEnd& event) {
    pace_.add(event.examples, event.tokens);
    const auto loss = losses_.add(event);
    if (!loss) return;
    auto line = record("step");
    line.member("step", event.step)
        .member("epoch", event.epoch)
        .member("loss", *loss)
        .member("gradient_norm", event.gradient_norm())
        .member("learning_rate", event.learning_rate)
        .member("tokens_per_second", std::exchange(pace_, {}).tokens_per_second());
    if (machine_) metrics::append(line, machine_(), "machine");
    write(line);
  }

  void on(const train::EvalEnd& event) {
    auto line = record("eval");
    line.member("split", event.split).member("step", event.step).member("epoch", event.epoch);
    if (has_labels(event.report.problem_type)) {
      line.member("accuracy", event.report.accuracy);
      line.member("macro_f1", event.report.macro_average().f1);
    }
    line.member("loss", event.report.loss);
    metrics::append(line, event.report.figures);
    write(line.member("examples", event.report.examples).member("seconds", event.seconds));
    pace_.rest();
  }

  void on(const train::EpochEnd& event) { write(record("epoch").member("epoch", event.epoch)); }

  void on(const train::FitEnd& event) {
    write(record("end").member("step", event.step).member("seconds", event.seconds));
    attempt([this] {
      if (partial_ != file_ && std::filesystem::exists(partial_)) move_to(file_);
    });
  }

 private:
  /// Calls `work`. If that throws, the log ends.
  template <class Work>
  void attempt(const Work& work) {
    try {
      with_file_errors(work);
    } catch (const Error& error) {
      give_up(error);
    }
  }

  /// Ends the log after its last complete record and warns with the reason.
  void give_up(const Error& error) {
    if (out_.is_open()) {
      out_.close();
      std::error_code ignored;
      std::filesystem::resize_file(partial_, bytes_, ignored);
    }
    if (warn_) warn_(std::string{error.what()} + "; training goes on without it");
  }

  void open() {
    std::error_code ignored;
    if (file_.has_parent_path()) std::filesystem::create_directories(file_.parent_path(), ignored);
    partial_ = std::filesystem::exists(file_, ignored) ? beside() : file_;
    if (partial_ == file_) std::filesystem::remove(beside(), ignored);  // left by an earlier run
    open_stream(std::ios::trunc, 0);
  }

  /// Continues the log of a killed run, without the records of steps that are repeated.
  void open_again(const train::Position& position) {
    const auto log = std::filesystem::exists(beside()) ? beside() : file_;
    if (!std::filesystem::exists(log)) return open();
    const std::string kept = records_before(position, log);
    partial_ = beside();
    write_file_atomically(partial_, kept);
    if (log == file_) move_to(file_);
    open_stream(std::ios::app, kept.size());
  }

  void open_stream(std::ios::openmode mode, std::uintmax_t bytes) {
    errno = 0;
    out_ = std::ofstream{partial_, std::ios::binary | mode};
    if (!out_) fail();
    bytes_ = bytes;
  }

  void move_to(const std::filesystem::path& place) {
    std::filesystem::rename(partial_, place);
    partial_ = place;
  }

  [[nodiscard]] std::filesystem::path beside() const {
    auto name = file_;
    return name += ".partial";
  }

  /// Returns the records of a log that come before a position, without an incomplete last line.
  static std::string records_before(const train::Position& position,
                                    const std::filesystem::path& log) {
    std::string kept;
    std::ifstream in{log, std::ios::binary};
    for (std::string line; std::getline(in, line);) {
      if (!in.eof() && is_before(line, position)) kept += line + "\n";
    }
    if (!in.eof()) throw Error{"cannot be read", {.object = log.string()}};
    return kept;
  }

  static bool is_before(const std::string& line, const train::Position& position) {
    try {
      const auto document = json::Document::parse(line, "log");
      const auto root = document.root();
      const std::string_view event = root.at("event").string();
      if (event == "step" || event == "skipped") return root.at("step").integer() <= position.step;
      if (event == "eval" || event == "epoch") return root.at("epoch").integer() <= position.epoch;
      return event == "begin";
    } catch (const Error&) {
      return false;
    }
  }

  static json::Writer record(std::string_view event) {
    json::Writer writer;
    writer.begin_object().member("event", event);
    writer.member("time", std::string_view{iso8601(std::chrono::system_clock::now())});
    return writer;
  }

  void write(json::Writer& record) {
    if (!out_.is_open()) return;  // the log was given up, or no fit is running
    const std::string line = std::string{record.end_object().text()} + "\n";
    attempt([&] {
      errno = 0;
      out_ << line << std::flush;
      if (!out_) fail();
      bytes_ += line.size();
    });
  }

  /// Throws `Error` with the reason of the last call that failed.
  [[noreturn]] void fail() const {
    if (errno != 0) throw system_error("cannot be written", partial_.string());
    throw Error{"cannot be written", {.object = partial_.string()}};
  }

  std::filesystem::path file_;
  std::filesystem::path partial_;  // the log's file while the fit runs
  std::function<void(std::string_view)> warn_;
  std::function<std::vector<metrics::Figure>()> machine_;
  std::ofstream out_;
  std::uintmax_t bytes_ = 0;  // size of the complete records
  LoggedLoss losses_;
  Pace<> pace_;
};

}  // namespace seqtrain::report
