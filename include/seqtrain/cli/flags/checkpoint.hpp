#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>

namespace seqtrain::cli {

/// The flags about checkpoints and resumption.
struct CheckpointFlags {
  std::string checkpoint_dir = "";
  std::int64_t checkpoint_every = 0;
  double checkpoint_minutes = 10;
  std::int64_t keep_checkpoints = 2;
  bool keep_last_checkpoint = false;
  std::string resume = "";
  double grace_seconds = 25;

  /// Adds the flags as a section of the help.
  void add_to(Flags& flags) {
    flags.section("Checkpoints")
        .add("checkpoint-dir", checkpoint_dir,
             "where checkpoints are saved: a directory or gs://bucket/path (default: "
             "AIP_CHECKPOINT_DIR, else checkpoints in the output directory)")
        .add("checkpoint-every", checkpoint_every,
             "steps between two checkpoints (0: not by steps)")
        .add("checkpoint-minutes", checkpoint_minutes,
             "minutes between two checkpoints (0: not by time)")
        .add("keep-checkpoints", keep_checkpoints, "number of newest checkpoints to keep")
        .add_switch("keep-last-checkpoint", keep_last_checkpoint,
                    "keep the checkpoint of a finished run, which more --epochs can extend "
                    "(default: only with --resume auto or --checkpoint-dir)")
        .add("resume", resume,
             "auto: continue the run whose checkpoints are in the checkpoint directory, if there "
             "is one; never: begin a new run; or a checkpoint's path: begin a new run from it "
             "(default: auto if a checkpoint directory is given, else never)")
        .add("grace-seconds", grace_seconds,
             "seconds after SIGTERM within which the run is saved and ends");
  }

  /// Tells whether the run continues from its newest checkpoint if it has one.
  [[nodiscard]] bool continues_by_itself() const { return resume == "auto"; }
  [[nodiscard]] bool begins_anew() const { return resume == "never"; }

  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const {
    require(checkpoint_every >= 0, "checkpoint-every", "must not be negative");
    require(checkpoint_minutes >= 0 && std::isfinite(checkpoint_minutes), "checkpoint-minutes",
            "must be a number, not negative");
    require(keep_checkpoints >= 1, "keep-checkpoints", "must be at least 1");
    require(grace_seconds > 0 && grace_seconds < 1e6, "grace-seconds",
            "must be above 0 and below a million");
  }
};

}  // namespace seqtrain::cli
