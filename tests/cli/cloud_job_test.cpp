#include <string>

#include <gtest/gtest.h>

#include <seqtrain/cli/cloud_job.hpp>

#include "support/environment.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::cli {
namespace {

TEST(CloudJob, IsWhatTheEnvironmentSays) {
  const tests::Environment id{"CLOUD_ML_JOB_ID", "123"};
  const tests::Environment project{"CLOUD_ML_PROJECT_ID", "p"};
  const tests::Environment trial{"CLOUD_ML_TRIAL_ID", "4"};
  const tests::Environment model{"AIP_MODEL_DIR", "gs://b/4/model/"};
  const tests::Environment checkpoints{"AIP_CHECKPOINT_DIR", "gs://b/4/checkpoints/"};
  const tests::Environment tensorboard{"AIP_TENSORBOARD_LOG_DIR", {}};
  const auto job = CloudJob::from_environment();
  EXPECT_EQ(job.describe(), "Job 123 of project p, trial 4");
  EXPECT_EQ(job.model_dir, "gs://b/4/model/");
  EXPECT_EQ(job.checkpoint_dir, "gs://b/4/checkpoints/");
  EXPECT_EQ(job.tensorboard_dir, "");
}

TEST(CloudJob, LogsJsonWhereTheIdOrAPlaceIsSet) {
  EXPECT_EQ(CloudJob{}.log_format(), log::LogFormat::text);
  EXPECT_EQ((CloudJob{.project = "p"}.log_format()), log::LogFormat::text);
  EXPECT_EQ((CloudJob{.id = "123"}.log_format()), log::LogFormat::json);
  EXPECT_EQ((CloudJob{.model_dir = "gs://b/"}.log_format()), log::LogFormat::json);
  EXPECT_EQ((CloudJob{.checkpoint_dir = "gs://b/"}.log_format()), log::LogFormat::json);
  EXPECT_EQ((CloudJob{.tensorboard_dir = "gs://b/"}.log_format()), log::LogFormat::json);
}

TEST(CloudJob, GivesEachTrialAPlaceOfItsOwn) {
  const CloudJob job{.trial = "4"};
  EXPECT_EQ(job.place_of_trial("gs://b/runs"), "gs://b/runs/4");
  EXPECT_EQ(job.place_of_trial("gs://b/runs/"), "gs://b/runs/4");
  EXPECT_EQ(job.place_of_trial(""), "");
  EXPECT_EQ(CloudJob{}.place_of_trial("gs://b/runs/"), "gs://b/runs/");
  for (const char* trial : {"../4", "..", "a/b"}) {
    EXPECT_EQ(tests::problem_of([&] { (void)CloudJob{.trial = trial}.place_of_trial("runs"); }),
              "CLOUD_ML_TRIAL_ID: cannot be the name of a folder");
  }
}

TEST(CloudJob, IsDescribedByWhatIsKnown) {
  EXPECT_EQ(CloudJob{.project = "p"}.describe(), "");
  EXPECT_EQ(CloudJob{.id = "123"}.describe(), "Job 123");
}

}  // namespace
}  // namespace seqtrain::cli
