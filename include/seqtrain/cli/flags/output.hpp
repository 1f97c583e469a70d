#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/environment.hpp>
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
             "where checkpoints are saved: a directory or an address, such as "
             "gs://bucket/path (default: "
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
  std::int64_t log_every = 0;
  std::string calibrate = "no";
  bool report_texts = true;
  bool no_baseline = false;
  bool hp_tune = false;

  /// Adds the flags as a section of the help.
  void add_to(Flags& flags) {
    flags.section("Output")
        .add("output-dir", output_dir, "directory of the run (default: runs/<name>_<date>)")
        .add_switch("overwrite", overwrite,
                    "replace a run that the output directory holds, with its checkpoints there")
        .add("model-name", model_name, "file name of the state_dict")
        .add("job-dir", job_dir,
             "place that also gets the results, in a dated folder: a directory or an address, "
             "such as gs://bucket/path "
             "(default: AIP_MODEL_DIR)")
        .add("push-to-hub", push_to_hub,
             "also push the model to this repository on the hub, org/name, which is created if it "
             "is missing")
        .add_switch("hub-private-repo", hub_private_repo,
                    "make a repository that --push-to-hub creates private")
        .add("logging-dir", logging_dir,
             "where TensorBoard's event files go: a directory or an address, such as "
             "gs://bucket/path (default: "
             "AIP_TENSORBOARD_LOG_DIR, else none are written)")
        .add("log-every", log_every,
             "most batches between two lines of the training log (0: 50, or fewer in a short run)")
        .add("calibrate", calibrate,
             "choose a temperature for the model's scores on the dev file, or in multi-label "
             "classification a threshold for each label: yes (for the highest F1), a precision "
             "such as 0.9 (for the highest recall at that precision) or no")
        .add("report-texts", report_texts, {{"true", true}, {"false", false}},
             "whether report.html shows texts of examples: true, false")
        .add_switch("no-baseline", no_baseline,
                    "do not compare the model with the most frequent label and with a linear model "
                    "on TF-IDF")
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
    require(log_every >= 0, "log-every", "must not be negative");
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

/// Returns the number of processor cores for each process on this machine, at least 1.
[[nodiscard]] inline std::int64_t default_threads() {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  return std::max<std::int64_t>(1, cores / local_processes());
}

/// The flags about the machine and the processes that share a run.
struct MachineFlags {
  std::string device = "auto";
  std::string precision = "auto";
  bool deterministic = false;
  std::int64_t threads = default_threads();
  std::int64_t dataloader_num_workers = 1;
  std::int64_t replicas = 0;
  std::string reduction = "exact";
  std::string dist_interface = "";

  /// Adds the flags as a section of the help.
  void add_to(Flags& flags) {
    flags.section("Machine")
        .add("device", device, device_help)
        .add("precision", precision, "fp32, bf16, fp16 (on a GPU) or " + auto_precision)
        .add_switch("deterministic", deterministic, deterministic_help)
        .add("threads", threads,
             "threads that compute (default: the machine's cores divided by its processes)")
        .add("dataloader-num-workers", dataloader_num_workers, "threads that prepare batches")
        .add("replicas", replicas,
             "parts of a step, each of --batch-size examples; any number of processes up to this "
             "gives equal results (0: the number of processes, or the checkpoint's replicas)")
        .add("reduction", reduction,
             "how gradients of processes are summed: exact (bits do not depend on the number of "
             "processes) or ring (the communication library's all-reduce)")
        .add("dist-interface", dist_interface,
             "network interface or address that the other processes connect to (default: the one "
             "with the route to rank 0)");
  }

  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const {
    const bool narrow = precision == "bf16" || precision == "fp16";
    require(precision == "auto" || precision == "fp32" || narrow, "precision",
            "'" + precision + "' is unknown: use auto, fp32, bf16 or fp16");
    require_threads(threads);
    require_threads(dataloader_num_workers, "dataloader-num-workers", 0);
    require(replicas >= 0, "replicas", "must not be negative");
    require(reduction == "exact" || reduction == "ring", "reduction",
            "is unknown: use exact or ring");
  }
};

}  // namespace seqtrain::cli
