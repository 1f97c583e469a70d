#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/flags/data.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/dist/world.hpp>
#include <seqtrain/experiment/job_dir.hpp>
#include <seqtrain/experiment/stages.hpp>
#include <seqtrain/languages/flags.hpp>
#include <seqtrain/languages/folds.hpp>
#include <seqtrain/languages/job.hpp>
#include <seqtrain/languages/places.hpp>
#include <seqtrain/languages/results.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/storage/open.hpp>

namespace seqtrain::languages {

/// Puts the files that a job of a published layout trains on into a directory of its own. The files
/// of an earlier start are replaced only if that start had equal settings and inputs.
inline void gather_published(Job& job, const std::filesystem::path& folder) {
  const auto own = job.work / "published";
  const auto data = own / "data", fresh = own / "data.new";
  if (std::filesystem::exists(data) && !std::filesystem::exists(own / "settings.json")) {
    throw InputError{"does not belong to a job: settings.json is missing",
                     {.object = own.string()},
                     "use another --work-dir"};
  }
  std::filesystem::remove_all(fresh);
  job.published->gather(folder, fresh, job.lang == "en");
  job.labels = job.published->split(folder, fresh, job.log);
  job.data = fresh;
  const experiment::Stages claim{own, job.settings()};
  std::filesystem::remove_all(data);
  std::filesystem::rename(fresh, data);
  job.data = data;
}

/// Fetches the language's files and finds its labels. Returns the place for the model, if it has
/// one.
inline std::optional<sink::Any> prepare_job(Job& job, const JobFlags& given,
                                            const Languages::Found& found) {
  const auto folder = given.languages.fetch(job.lang, found, {job.log});
  std::optional<sink::Any> place;
  if (!given.model_dir.empty()) {
    place = experiment::open_job_dir(given.languages.place_of(given.model_dir), {job.log});
  }
  if (job.published) {
    job.published->pretrained = storage::fetch(job.published->pretrained, {job.log});
    gather_published(job, folder);
  } else {
    job.data = folder;
    job.labels = data::choose_labels({}, {}, job.data / "train.csv", {.columns = job.columns});
  }
  return place;
}

/// Calls `use`, which reads a language's files. An error whose remedy is a flag of `seqtrain train`
/// gets one of this program.
template <class Use>
void with_own_remedies(const Use& use) {
  try {
    use();
  } catch (const InputError& error) {
    const char* const columns =
        "name the columns text and label in the header, or without one by --columns";
    const char* const labels = "train.csv needs texts of each of the language's labels";
    const char* const one = "here a text has one label";
    const std::string text = error.what();
    for (const auto& [flag, own] : {std::pair{"--label-field", columns},
                                    {"--text-field", columns},
                                    {"--labels ", labels},
                                    {"--problem-type", one}}) {
      const auto place = text.find(flag);
      if (place == text.npos) continue;
      throw InputError{text.substr(0, text.rfind("; ", place)), {}, own};
    }
    throw;
  }
}

/// Trains, evaluates and saves or publishes the model of a language, or cross-validates.
template <class Framework>
void run_job(const JobFlags& given, const Languages::Found& found) {
  Job job = given.job;
  std::optional<FileLock> held;
  if (job.published) held.emplace(lock_directory(job.work));  // before files are gathered there
  auto place = prepare_job(job, given, found);
  if (!held) held.emplace(lock_directory(job.work));
  const cli::StopSignals signals{{.log = job.log.warnings()}};
  job.stop = signals.token();
  if (given.folds > 0) {
    cross_validate<Framework>(job, given.folds);
    if (place) publish_folds(job, *place, given.languages.place_of(given.model_dir));
    return;
  }
  save_report(job, Framework::train(job));
  if (!place) return job.log.info("The model is in " + job.work.string());
  publish_job(job, *place, given.languages.place_of(given.model_dir));
}

/// The program `languages`: trains a text classifier for a language whose files are in a bucket,
/// and puts the model there. `Framework` is a class such as `Ulmfit`, see `Job`. Returns the exit
/// code.
template <class Framework>
int run(int argc, char** argv) {
  return cli::run([&](log::Log& log) {
    JobFlags given{log};
    cli::Flags flags{"languages", "trains a text classifier for a language from a bucket", log};
    add_flags(given, flags);
    if (!flags.parse(argc, argv)) return;
    if (const int size = dist::World::from_environment().size; size > 1) {
      throw InputError{"trains on one machine, in one process; there are " + std::to_string(size),
                       {.object = "languages"}};
    }
    const auto found = choose_language(given, flags);
    const bool theirs = given.job.published.has_value();
    cli::require_columns(given.job.columns);
    cli::require(!theirs || given.job.columns.empty(), "columns", "is not for a published layout");
    cli::require(given.folds == 0 || given.folds >= 2, "folds", "must be 0, or 2 or more");
    cli::require(given.folds == 0 || !theirs, "folds",
                 "is not for a published layout, whose job divides its data set into three parts");
    set_defaults(given);
    check_job(given.job);
    use_machine(given);
    with_own_remedies([&] { run_job<Framework>(given, found); });
  });
}

}  // namespace seqtrain::languages
