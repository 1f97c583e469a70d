#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/report/cadence.hpp>
#include <seqtrain/report/pace.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/figures.hpp>

namespace seqtrain::report {

struct JsonLinesOptions {
  std::int64_t every = 50;  ///< batches from one step's record to the next, as on the console
};

/// Writes a run's log: one JSON object a line, one line an event, each on its way to the disk
/// before training goes on. The file appears when the fit begins; one of that name from an earlier
/// run stays as it is, with the new one beside it as `<file>.partial`, until the fit has ended. A
/// fit that goes on from a checkpoint goes on with its log, less what lies behind the checkpoint.
class JsonLines {
 public:
  explicit JsonLines(std::filesystem::path file, const JsonLinesOptions& options = {})
      : file_{std::move(file)}, cadence_{options.every} {}

  void on(const train::FitBegin& event) {
    event.position == train::Position{} ? open() : open_again(event.position);
    pace_ = {};
    cadence_.start_at(event.position);
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
    if (!cadence_.due(event)) return;
    write(record("step")
              .member("step", event.step)
              .member("epoch", event.epoch)
              .member("loss", event.loss())
              .member("learning_rate", event.learning_rate)
              .member("tokens_per_second", std::exchange(pace_, {}).tokens_per_second()));
  }

  void on(const train::EvalEnd& event) {
    auto line = record("eval");
    line.member("split", event.split).member("step", event.step).member("epoch", event.epoch);
    if (event.report.problem_type != ProblemType::regression) {
      line.member("accuracy", event.report.accuracy);
    }
    line.member("loss", event.report.loss);
    train::append(line, event.report.figures);
    write(line.member("examples", event.report.examples).member("seconds", event.seconds));
    pace_.rest();
  }

  void on(const train::EpochEnd& event) { write(record("epoch").member("epoch", event.epoch)); }

  void on(const train::FitEnd& event) {
    write(record("end").member("step", event.step).member("seconds", event.seconds));
    std::error_code error;
    if (partial_ != file_) std::filesystem::rename(partial_, file_, error);
    if (error) fail(error.message());
    partial_ = file_;  // what follows, such as a test, still goes into it
  }

 private:
  void open() {
    std::error_code error;
    if (file_.has_parent_path()) std::filesystem::create_directories(file_.parent_path(), error);
    partial_ = file_;
    if (std::filesystem::exists(file_, error)) partial_ += ".partial";
    out_ = std::ofstream{partial_, std::ios::binary | std::ios::trunc};
    if (!out_) fail("cannot be created");
  }

  /// Appends to the log that a killed run has left, less the records of what is done again.
  void open_again(const train::Position& position) {
    partial_ = file_;
    partial_ += ".partial";
    if (!std::filesystem::exists(partial_)) partial_ = file_;
    if (!std::filesystem::exists(partial_)) return open();
    std::string kept;
    std::ifstream in{partial_, std::ios::binary};
    for (std::string line; std::getline(in, line);) {
      if (!in.eof() && is_before(line, position)) kept += line + "\n";  // no line end: torn
    }
    write_file_atomically(partial_, kept);
    out_ = std::ofstream{partial_, std::ios::binary | std::ios::app};
    if (!out_) fail("cannot be opened");
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
    if (!out_.is_open()) return;  // an evaluation outside of any fit
    out_ << record.end_object().text() << std::endl;
    if (!out_) fail("cannot be written");
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw Error{problem, {.object = partial_.string()}};
  }

  std::filesystem::path file_;
  std::filesystem::path partial_;  // where the log is while the fit runs
  std::ofstream out_;
  Cadence cadence_;
  Pace<> pace_;
};

}  // namespace seqtrain::report
