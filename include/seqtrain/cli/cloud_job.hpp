#pragma once

#include <string>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/log/log.hpp>

namespace seqtrain::cli {

/// The environment variables that a cloud job sets for its program. A variable that is not set is
/// an empty string here.
struct CloudJob {
  std::string id = {};         ///< `CLOUD_ML_JOB_ID`
  std::string project = {};    ///< `CLOUD_ML_PROJECT_ID`
  std::string trial = {};      ///< `CLOUD_ML_TRIAL_ID`, set in each trial of hyperparameter tuning
  std::string model_dir = {};  ///< `AIP_MODEL_DIR`
  std::string checkpoint_dir = {};   ///< `AIP_CHECKPOINT_DIR`
  std::string tensorboard_dir = {};  ///< `AIP_TENSORBOARD_LOG_DIR`

  [[nodiscard]] static CloudJob from_environment() {
    const auto value = [](const char* name) { return process_environment(name).value_or(""); };
    return {.id = value("CLOUD_ML_JOB_ID"),
            .project = value("CLOUD_ML_PROJECT_ID"),
            .trial = value("CLOUD_ML_TRIAL_ID"),
            .model_dir = value("AIP_MODEL_DIR"),
            .checkpoint_dir = value("AIP_CHECKPOINT_DIR"),
            .tensorboard_dir = value("AIP_TENSORBOARD_LOG_DIR")};
  }

  /// Returns the format that `--log-format auto` stands for: JSON in a cloud job, which sets its id
  /// or one of its places, else text.
  [[nodiscard]] log::LogFormat log_format() const {
    const bool in_job = !(id + model_dir + checkpoint_dir + tensorboard_dir).empty();
    return in_job ? log::LogFormat::json : log::LogFormat::text;
  }

  /// Returns the place of this trial inside a place that all trials of the job share: a folder with
  /// the trial's id. Without a trial, or if no place is given, returns it unchanged. Throws
  /// `InputError` if the id cannot be the name of a folder.
  [[nodiscard]] std::string place_of_trial(const std::string& place) const {
    if (trial.empty() || place.empty()) return place;
    if (trial.find('/') != std::string::npos || trial.starts_with('.')) {
      throw InputError{"cannot be the name of a folder", {.object = "CLOUD_ML_TRIAL_ID"}};
    }
    return place + (place.ends_with('/') ? "" : "/") + trial;
  }

  /// Returns a line that names the job, or an empty string outside a job.
  [[nodiscard]] std::string describe() const {
    if (id.empty()) return {};
    return "Job " + id + (project.empty() ? "" : " of project " + project) +
           (trial.empty() ? "" : ", trial " + trial);
  }
};

}  // namespace seqtrain::cli
