#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/experiment/run.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/storage/scheme.hpp>

namespace seqtrain::experiment {

/// A training program.
struct ProgramOptions {
  std::string name;
  std::string purpose = "fine-tunes a classifier of texts";
  cli::TrainFlags defaults = {};              ///< values of flags that are not given
  std::optional<model::OwnHead> head = {};    ///< replaces the head of the model that is loaded
  std::vector<storage::Scheme> schemes = {};  ///< further storages for inputs and results
  /// Adds flags of the program's own, each bound to a variable that outlives the program. They
  /// determine the results of a run, so it resumes only with equal values.
  std::function<void(cli::Flags&)> add_flags = {};
};

/// Parses the flags, prepares a run and calls `body(run)`, which passes a trainer to `run.fit`.
/// Returns the program's exit code; see `cli::ExitCode`. All flags are listed by `--help`.
SEQTRAIN_SEPARATE int run(int argc, char** argv, ProgramOptions options,
                          const std::function<void(Run&)>& body);

}  // namespace seqtrain::experiment

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/experiment/src/program.hpp>
#endif
