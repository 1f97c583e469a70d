#pragma once

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/train/observe.hpp>
#include <seqtrain/train/results.hpp>
#include <seqtrain/train/run_directory.hpp>

/// What follows a run: the program's log, a progress bar, train_log.jsonl, the measured rates and
/// the use of the machine.
class RunObservers {
 public:
  RunObservers(const seqtrain::cli::TrainFlags& flags, const seqtrain::train::RunDirectory& run,
               bool on_gpu, const seqtrain::report::Log& log)
      : machine_{{.gpu = on_gpu, .log = log.warnings()}},
        console_{{.every = flags.log_every}, log},
        bar_{{.enabled = log.on_terminal()}},
        records_{run.log(), {.every = flags.log_every, .warn = log.warnings(), .machine = [this] {
                               return machine_.latest();
                             }}} {}

  /// Passes an event of the fit, or of an evaluation, on to each of them.
  template <class Event>
  void on(const Event& event) {
    seqtrain::train::notify(event, console_, bar_, records_, throughput_);
  }

  /// Adds what was measured to the results.
  void complete(seqtrain::train::Results& results) const {
    results.train = throughput_.figures();
    results.machine = machine_.summary();
  }

 private:
  seqtrain::report::Machine machine_;
  seqtrain::report::Console console_;
  seqtrain::report::ProgressBar<> bar_;
  seqtrain::report::JsonLines records_;
  seqtrain::report::Throughput<> throughput_;
};
