#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/languages/program.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::languages {
namespace {

std::string remedied(const InputError& error) {
  return tests::problem_of([&] { with_own_remedies([&] { throw error; }); });
}

TEST(LanguagesRemedies, NameFlagsThatTheProgramHas) {
  const std::string columns = remedied(
      InputError{"has no column text", {.object = "train.csv"}, "name it by --text-field"});
  EXPECT_NE(columns.find("train.csv"), std::string::npos) << columns;
  EXPECT_NE(columns.find("--columns"), std::string::npos) << columns;
  EXPECT_EQ(columns.find("--text-field"), std::string::npos) << columns;
  const std::string labels = remedied(InputError{"has one label", {}, "name others by --labels a"});
  EXPECT_NE(labels.find("train.csv needs texts of each"), std::string::npos) << labels;
}

TEST(LanguagesRemedies, StayWithoutFlags) {
  const InputError error{"is missing", {.object = "valid.csv"}, "add the file"};
  EXPECT_EQ(remedied(error), error.what());
}

JobFlags flags_of_layout(bool published) {
  JobFlags given{log::Log{}};
  if (published) given.job.published.emplace();
  given.job.lang = "fr";
  return given;
}

TEST(LanguagesFlags, HaveTheDefaultsOfTheLayout) {
  auto plain = flags_of_layout(false), published = flags_of_layout(true);
  plain.job.epochs = 3;
  set_defaults(plain);
  set_defaults(published);
  EXPECT_EQ(plain.job.epochs, 3);
  EXPECT_EQ(plain.job.batch_size, 32);
  EXPECT_EQ(plain.job.max_length, 512);
  EXPECT_EQ(plain.model_dir, "models");
  EXPECT_EQ(plain.job.work, "runs/languages_fr");
  EXPECT_EQ(published.job.epochs, 8);
  EXPECT_EQ(published.job.batch_size, 16);
  EXPECT_EQ(published.job.max_length, 1440);
  EXPECT_EQ(published.model_dir, "");
}

TEST(LanguagesFlags, AreRefusedOutOfRange) {
  auto given = flags_of_layout(false);
  set_defaults(given);
  given.job.threads = 1;
  check_job(given.job);
  const auto problem = [&](auto member, auto value) {
    Job job = given.job;
    job.*member = value;
    return tests::problem_of([&] { check_job(job); });
  };
  EXPECT_NE(problem(&Job::epochs, -1).find("--epochs"), std::string::npos);
  EXPECT_NE(problem(&Job::language_model_epochs, -2).find("--language-model-epochs"),
            std::string::npos);
  EXPECT_NE(problem(&Job::vocabulary, 9).find("--vocabulary"), std::string::npos);
  EXPECT_NE(problem(&Job::batch_size, -1).find("--batch-size"), std::string::npos);
  EXPECT_NE(problem(&Job::max_length, 2).find("--max-length"), std::string::npos);
  EXPECT_NE(problem(&Job::lang, "a/b").find("--lang"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::languages
