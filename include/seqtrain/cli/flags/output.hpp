#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/hub/name.hpp>

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

/// The flags about the results of a run.
struct OutputFlags {
  std::string output_dir = "";
  bool overwrite = false;
  std::string model_name = "model.pth";
  std::string job_dir = "";
  std::string push_to_hub = "";
  bool hub_private_repo = false;
  std::string logging_dir = "";
  std::int64_t log_every = 50;
  std::string calibrate = "no";
  bool report_texts = true;
  bool hp_tune = false;

  /// Adds the flags as a section of the help.
  void add_to(Flags& flags) {
    flags.section("Output")
        .add("output-dir", output_dir, "directory of the run (default: runs/<name>_<date>)")
        .add_switch("overwrite", overwrite,
                    "replace a run that the output directory holds, with its checkpoints there")
        .add("model-name", model_name, "file name of the state_dict")
        .add("job-dir", job_dir,
             "place that also gets the results, in a dated folder: a directory or gs://bucket/path "
             "(default: AIP_MODEL_DIR)")
        .add("push-to-hub", push_to_hub,
             "also push the model to this repository on the hub, org/name, which is created if it "
             "is missing")
        .add_switch("hub-private-repo", hub_private_repo,
                    "make a repository that --push-to-hub creates private")
        .add("logging-dir", logging_dir,
             "where TensorBoard's event files go: a directory or gs://bucket/path (default: "
             "AIP_TENSORBOARD_LOG_DIR, else none are written)")
        .add("log-every", log_every, "batches between two lines of the training log")
        .add("calibrate", calibrate,
             "choose a temperature for the model's scores on the dev file, or in multi-label "
             "classification a threshold for each label: yes (for the highest F1), a precision "
             "such as 0.9 (for the highest recall at that precision) or no")
        .add("report-texts", report_texts, {{"true", true}, {"false", false}},
             "whether report.html shows texts of examples: true, false")
        .add(
            "hp-tune", hp_tune, {{"y", true}, {"n", false}},
            "y: report the dev figures to a service that tunes hyperparameters; n: report nothing");
  }

  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const {
    const bool names_repository = push_to_hub.find('/') != std::string::npos &&
                                  push_to_hub.find('@') == std::string::npos &&
                                  hub::Name::fits(push_to_hub);
    require(push_to_hub.empty() || names_repository, "push-to-hub",
            "takes the name of a repository on the hub, org/name");
    require(!hub_private_repo || !push_to_hub.empty(), "hub-private-repo",
            "needs --push-to-hub org/name");
    require(log_every >= 1, "log-every", "must be at least 1");
    require(calibrate == "no" || calibrates(), "calibrate",
            "must be yes, no, or a precision above 0 and at most 1");
  }

  /// Returns the precision that `--calibrate` asks for in multi-label classification, or nothing.
  [[nodiscard]] std::optional<double> calibration_precision() const {
    const auto value = parse_number<double>(calibrate);
    return value && *value > 0 && *value <= 1 ? value : std::nullopt;
  }

  /// Tells whether a temperature or thresholds are chosen on dev.
  [[nodiscard]] bool calibrates() const {
    return calibrate == "yes" || calibration_precision().has_value();
  }
};

}  // namespace seqtrain::cli
