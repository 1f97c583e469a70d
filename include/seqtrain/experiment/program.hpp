#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/example.hpp>
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
  /// The model is a `ScoredByLoss`, such as `model::LossAlone`. Examples need no labels, unless
  /// `--problem-type` or its default says what these are.
  bool scored_by_loss = false;
  /// Each text of an example is encoded as a row of its own: rows 2 i and 2 i + 1 of a set, and
  /// neighbours in a batch. `--batch-size` counts examples, and each needs two texts.
  bool texts_apart = false;
  /// Tells whether the program reads an example of its files. By default it reads all.
  std::function<bool(const data::Example&)> reads = {};
};

/// Parses the flags, prepares a run and calls `body(run)`, which passes a trainer to `run.fit`.
/// Returns the program's exit code; see `cli::ExitCode`. All flags are listed by `--help`.
SEQTRAIN_SEPARATE int run(int argc, char** argv, ProgramOptions options,
                          const std::function<void(Run&)>& body);

}  // namespace seqtrain::experiment

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/experiment/src/program.hpp>
#endif
