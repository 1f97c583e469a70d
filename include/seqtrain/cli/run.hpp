#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <ios>
#include <iostream>
#include <new>
#include <streambuf>
#include <string>
#include <type_traits>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/system_error.hpp>
#include <seqtrain/log/background_output.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::cli {

/// The exit code of a program.
enum ExitCode : int {
  done = 0,
  failed = 1,
  wrong_input = 2,  ///< wrong usage or input; nothing was written
  /// A signal stopped the run, and a checkpoint is saved. Under torchrun such a run ends with
  /// `done`.
  stopped_by_signal = 3,
};

/// Returns the messages of the exceptions that are nested in an exception, the outermost first.
inline std::vector<std::string> causes_of(const std::exception& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    auto causes = causes_of(cause);
    causes.insert(causes.begin(), cause.what());
    return causes;
  } catch (...) {
    return {"an unknown error"};
  }
  return {};
}

/// Returns the place and the causes of an error as fields of a log message.
inline log::Fields fields_of(const std::exception& error) {
  log::Fields fields;
  if (const auto* known = dynamic_cast<const Error*>(&error)) {
    const Where& where = known->where();
    if (!where.object.empty()) fields.emplace_back("object", where.object);
    if (where.line > 0) fields.emplace_back("line", where.line);
    if (!where.field.empty()) fields.emplace_back("field", where.field);
  }
  if (const auto causes = causes_of(error); !causes.empty()) fields.emplace_back("causes", causes);
  return fields;
}

namespace detail {

/// The longest time that a program waits for the reader of its log when it should end.
inline constexpr std::chrono::seconds longest_wait_for_reader{1};

/// The number of signals that have asked this program to stop.
inline std::atomic<int>& stop_signals() {
  static std::atomic<int> count{0};
  return count;
}

/// The output of the program's log, or null if it has none.
inline std::atomic<log::BackgroundOutput*>& program_output() {
  static std::atomic<log::BackgroundOutput*> output{nullptr};
  return output;
}

/// Opens stdin, stdout and stderr if they are closed, so that no file that the program opens later
/// gets their numbers and the lines of the log. Reading and writing them still fails.
inline void keep_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int opened =
        ::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// The log of a program whose stdout carries the log. What the program writes to std::cout, such as
/// a progress bar, goes the same way.
class ProgramLog {
 public:
  ProgramLog() : log_{options()}, before_{std::cout.rdbuf(output_.out().rdbuf())} {
    output_.set_notice([log = log_](std::size_t lines) {
      return log.line(log::Severity::warning,
                      std::to_string(lines) + " lines were dropped here: the log is not read",
                      {{"lines", lines}});
    });
    program_output() = &output_;
  }
  ProgramLog(const ProgramLog&) = delete;
  ProgramLog& operator=(const ProgramLog&) = delete;
  /// Waits until the log is written, but not long if a signal has asked the program to stop.
  ~ProgramLog() {
    std::cout << std::flush;
    std::cout.rdbuf(before_);
    program_output() = nullptr;
    if (stop_signals() == 0) {
      output_.finish();
    } else {
      output_.finish(longest_wait_for_reader);
    }
  }

  [[nodiscard]] log::Log& log() { return log_; }

 private:
  log::LogOptions options() {
    return {
        .terminal = log::stdout_is_terminal(), .out = &output_.out(), .errors = &output_.errors()};
  }

  log::BackgroundOutput output_;
  log::Log log_;
  std::streambuf* before_;  ///< the buffer that std::cout had
};

/// Lets a failure to write std::cout throw `std::ios_base::failure`.
class DataOutput {
 public:
  DataOutput() {
    std::cout.clear();
    std::cout.exceptions(std::ios::badbit);
  }
  DataOutput(const DataOutput&) = delete;
  DataOutput& operator=(const DataOutput&) = delete;
  ~DataOutput() { std::cout.exceptions(before_); }

 private:
  std::ios::iostate before_ = std::cout.exceptions();
};

/// Tells whether the reader of stdout has closed its end.
inline bool stdout_reader_is_gone() {
  pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

/// Calls `work` and turns an exception into a message and an exit code.
template <class Work>
int code_of(const Work& work, const log::Log& log) {
  const auto fail = [&log](const std::string& problem, const log::Fields& fields, ExitCode code) {
    log.error(problem, fields);
    return code;
  };
  try {
    work();
    return done;
  } catch (const train::Stopped& stopped) {
    log.warning(stopped.what());
    // torchrun restarts a program that ends with a code other than 0.
    return process_environment("TORCHELASTIC_RUN_ID") ? done : stopped_by_signal;
  } catch (const InputError& error) {
    return fail(error.what(), fields_of(error), wrong_input);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; a smaller --batch-size or --max-length needs less", {}, failed);
  } catch (const std::ios_base::failure& error) {
    if (!std::cout.bad()) return fail(sentence_of(error), {}, failed);
    return stdout_reader_is_gone() ? done : fail("stdout: cannot be written", {}, failed);
  } catch (const std::exception& error) {
    return fail(sentence_of(error), fields_of(error),
                is_about_a_wrong_path(error) ? wrong_input : failed);
  }
}

}  // namespace detail

/// Ends the program at once, without its destructors and its other threads. The log is written
/// first, unless its reader takes more than a second for that.
[[noreturn]] inline void end_at_once(ExitCode code) {
  auto* const output = detail::program_output().load();
  if (output != nullptr) output->finish(detail::longest_wait_for_reader);
  ::_exit(code);
}

/// Calls `body(log)` or `body()` and turns an exception into a message and an exit code. Apart from
/// `end_at_once` and `StopSignals`, no other code of seqtrain ends a program.
///
/// A body that takes a `log::Log` gets the program's log: on stdout as JSON in a cloud job, else
/// as text with errors on stderr. The log never delays or ends the program, whatever its reader
/// does; see `log::BackgroundOutput`. A body without a parameter belongs to a program whose stdout
/// carries data, so its errors are text on stderr. It ends quietly with `done` if the reader of its
/// std::cout closes its end. The signals SIGPIPE and SIGXFSZ are ignored from here on, so that a
/// write fails instead, which an error tells.
template <class Body>
int run(const Body& body) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // of a write beyond the limit of a file's size
  detail::keep_standard_descriptors();
  if constexpr (std::is_invocable_v<const Body&, log::Log&>) {
    int code = done;
    const auto with_log = [&] {
      detail::ProgramLog program;
      const auto work = [&] {
        program.log().set_format(CloudJob::from_environment().log_format());
        body(program.log());
      };
      code = detail::code_of(work, program.log());
    };
    const int begun = detail::code_of(with_log, log::log_on_stderr());
    return begun == done ? code : begun;
  } else {
    const auto work = [&] {
      const detail::DataOutput throws;
      body();
      std::cout << std::flush;
    };
    return detail::code_of(work, log::log_on_stderr());
  }
}

}  // namespace seqtrain::cli
