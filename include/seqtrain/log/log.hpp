#pragma once

#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/separate_compilation.hpp>

namespace seqtrain::log {

/// The characters that move a terminal's cursor to the start of its line and wipe the line.
inline constexpr std::string_view clear_line = "\r\x1b[K";

/// Tells whether the standard output is a terminal.
inline bool stdout_is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}

/// The severity of a message.
enum class Severity { info, warning, error };

/// Returns the severity as Cloud Logging spells it.
[[nodiscard]] constexpr std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "INFO";
    case Severity::warning:
      return "WARNING";
    case Severity::error:
      return "ERROR";
  }
  return "DEFAULT";
}

/// A named value of a message. In JSON format it is a member beside the text.
struct Field {
  std::string name;
  std::string json;

  /// `value` is a number, a Boolean, a text or a list of texts.
  template <class T>
  Field(std::string_view of, const T& value) : name{of} {
    json = json::Writer{}.value(value).text();
  }
};
/// The fields of a message.
using Fields = std::vector<Field>;

/// The format of a log: plain lines, or one JSON object a line.
enum class LogFormat { text, json };

/// Options of `Log`.
struct LogOptions {
  LogFormat format = LogFormat::text;
  bool terminal = false;              ///< if true, a message first wipes a progress bar's line
  std::ostream* out = &std::cout;     ///< takes all messages except errors in text format
  std::ostream* errors = &std::cerr;  ///< takes errors in text format
  /// The rank of this process in the run. Ranks other than 0 write only errors, with `rank 3: `
  /// before them.
  int rank = 0;
};

/// A program's log. Each message is written and flushed at once; messages from several threads do
/// not mix. Copies of a log are the same log.
///
/// In JSON format a message is an object with `severity`, `message`, `time` and the message's
/// fields, as Cloud Logging reads it. In text format it is its text alone, with `error: ` before an
/// error.
class Log {
 public:
  explicit Log(const LogOptions& options = {}) : state_{std::make_shared<State>(options)} {}

  /// Logs a message.
  void info(std::string_view text, const Fields& fields = {}) const {
    write(Severity::info, text, fields);
  }
  /// Logs a warning.
  void warning(std::string_view text, const Fields& fields = {}) const {
    write(Severity::warning, text, fields);
  }
  /// Logs an error.
  void error(std::string_view text, const Fields& fields = {}) const {
    write(Severity::error, text, fields);
  }

  /// Writes each line of a text as a message of its own.
  void lines(std::string_view text) const;

  /// Writes a message. An empty text writes nothing.
  void write(Severity severity, std::string_view text, const Fields& fields = {}) const;

  /// Returns the line that `write` writes on rank 0.
  [[nodiscard]] std::string line(Severity severity, std::string_view text,
                                 const Fields& fields = {}) const;

  /// Returns a function that writes warnings; it may outlive this object.
  [[nodiscard]] std::function<void(std::string_view)> warnings() const {
    return [log = *this](std::string_view text) { log.warning(text); };
  }

  /// Changes the format of this log and its copies.
  void set_format(LogFormat format) const {
    const std::lock_guard lock{state_->mutex};
    state_->options.format = format;
  }

  /// Changes the rank of this log and its copies.
  void set_rank(int rank) const {
    const std::lock_guard lock{state_->mutex};
    state_->options.rank = rank;
  }

  /// Tells whether the log is text on a terminal, so that a progress bar can be drawn below it.
  [[nodiscard]] bool on_terminal() const {
    const std::lock_guard lock{state_->mutex};
    const auto& options = state_->options;
    return options.terminal && options.format == LogFormat::text && options.rank == 0;
  }

 private:
  struct State {
    explicit State(const LogOptions& given) : options{given} {}

    LogOptions options;
    std::mutex mutex;
  };

  [[nodiscard]] std::string line_of(Severity severity, std::string_view text,
                                    const Fields& fields) const;

  [[nodiscard]] std::string text_line(Severity severity, std::string_view text) const;

  static std::string json_line(Severity severity, std::string_view text, const Fields& fields);

  /// Returns a text as valid UTF-8: if it is not, every byte above 0x7f becomes `?`. Names of files
  /// may contain any bytes.
  static std::string valid(std::string_view text);

  std::shared_ptr<State> state_;
};

/// Returns a log in text format on stderr, for a program whose stdout carries data.
inline Log log_on_stderr() {
  return Log{{.out = &std::cerr}};
}

}  // namespace seqtrain::log

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/log/src/log.hpp>
#endif
