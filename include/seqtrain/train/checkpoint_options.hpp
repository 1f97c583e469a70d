#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::train {

/// Returns a new run's id: `run_YYYYmmdd_HHMMSS_<8 digits>`.
SEQTRAIN_SEPARATE std::string make_run_id();

/// Options that say when a fit saves checkpoints and which one it continues.
struct CheckpointOptions {
  std::int64_t every = 0;  ///< steps between two checkpoints; 0 turns this off
  double minutes = 0;      ///< minutes between two checkpoints; 0 turns this off
  std::int64_t keep = 2;   ///< the number of the run's newest checkpoints that are kept
  /// "auto" continues the run that the store names from its newest complete checkpoint, or begins a
  /// run if there is none; "never" begins a new run; a checkpoint's directory begins a new run from
  /// that checkpoint.
  std::string resume = "auto";
  /// The directory for checkpoints on this machine before they reach a remote store. By default it
  /// is a folder of the user's cache directory, which is emptied when the run has ended
  /// successfully.
  std::filesystem::path directory = {};
  /// Flags that determine the result: a resumed run must have the same.
  Pairs settings = {};
  Pairs versions = {};  ///< versions of the program and its libraries, for people
  /// The function that is called with messages about resumed and failed checkpoints, on the thread
  /// that trains. By default the observers of the fit get them.
  std::function<void(const Notice&)> log = {};
  /// Makes ids of runs and of programs. Tests replace it.
  std::function<std::string()> make_id = make_run_id;

  /// Tells whether `fit` saves checkpoints at all.
  [[nodiscard]] bool enabled() const { return every > 0 || minutes > 0; }

  void validate() const;
};

}  // namespace seqtrain::train

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/train/src/checkpoint_options.hpp>
#endif
