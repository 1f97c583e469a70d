#pragma once

#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
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

/// Calls `body(log)` or `body()` and turns an exception into a message and an exit code. No other
/// code of seqtrain ends a program because of an error.
///
/// A body that takes a `log::Log` gets the program's log: on stdout as JSON in a cloud job, else
/// as text with errors on stderr. A body without a parameter belongs to a program whose stdout
/// carries data, so its errors are text on stderr.
template <class Body>
int run(const Body& body) {
  constexpr bool logs = std::is_invocable_v<const Body&, log::Log&>;
  log::Log log = log::log_on_stderr();
  const auto fail = [&log](const std::string& problem, const log::Fields& fields, ExitCode code) {
    log.error(problem, fields);
    return code;
  };
  try {
    if constexpr (logs) {
      log = log::Log{{.terminal = log::stdout_is_terminal()}};
      log.set_format(CloudJob::from_environment().log_format());
      body(log);
    } else {
      body();
    }
    return done;
  } catch (const train::Stopped& stopped) {
    log.warning(stopped.what());
    // torchrun restarts a program that ends with a code other than 0.
    return process_environment("TORCHELASTIC_RUN_ID") ? done : stopped_by_signal;
  } catch (const InputError& error) {
    return fail(error.what(), fields_of(error), wrong_input);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; a smaller --batch-size or --max-length needs less", {}, failed);
  } catch (const std::exception& error) {
    return fail(error.what(), fields_of(error), failed);
  }
}

}  // namespace seqtrain::cli
