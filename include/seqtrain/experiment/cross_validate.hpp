#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/experiment/fetch_inputs.hpp>
#include <seqtrain/experiment/fold_results.hpp>
#include <seqtrain/experiment/job_dir.hpp>
#include <seqtrain/experiment/no_tokens.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/experiment/several_runs.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

/// A cross-validation: a run for each fold, in a folder of its own, and what their predictions say
/// about the training file. A fold whose run is finished is kept if the cross-validation is
/// resumed.
class CrossValidation {
 public:
  /// Reads the labels and chooses the folds. Throws `InputError` if a flag or a file does not fit.
  CrossValidation(const cli::TrainFlags& given, const cli::Flags& parser, const std::string& name,
                  const storage::Options& storages)
      : given_{given},
        parser_{parser},
        log_{storages.log},
        signals_{given, log_},
        local_{
            with_local_inputs(demand_train_file(given, "--folds divides its examples"), storages)},
        directory_{given.run_directory(name)},
        job_{open_job_dir(given.job_dir, storages)},
        labels_{local_.choose_labels([](const auto&, const std::string&) {})} {
    const auto set = read_labels(local_.train_file, local_.read_options(), labels_, local_, log_);
    rows_ = local_.rows_of_folds(set.set, labels_);
  }

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// Returns the signals that stop the folds.
  [[nodiscard]] SeriesSignals& signals() { return signals_; }

  /// Calls train(flags) for each fold that is not finished, then writes the results of all. Throws
  /// `train::Stopped` if a signal arrives between two folds.
  void operator()(const std::function<void(const cli::TrainFlags&)>& train) {
    std::vector<cli::TrainFlags> folds;
    for (std::size_t fold = 0; fold < rows_.size(); ++fold) {
      const auto number = static_cast<std::int64_t>(fold) + 1;
      folds.push_back(given_.of_fold({.number = number, .rows = rows_[fold]}, directory()));
    }
    begin(folds);
    for (const auto& flags : folds) {
      const std::string title =
          "Fold " + std::to_string(flags.fold->number) + " of " + std::to_string(folds.size());
      const bool finished = is_finished(flags);
      log_.info(title + (finished ? " is finished: " + flags.output_dir : ""));
      signals_.check();
      if (!finished) train(flags);
    }
    signals_.check();
    finish();
  }

 private:
  /// Tells whether the run of a fold is to be kept.
  [[nodiscard]] static bool is_finished(const cli::TrainFlags& flags) {
    std::error_code none;
    return std::filesystem::exists(metrics_of(flags), none);
  }

  [[nodiscard]] static std::filesystem::path metrics_of(const cli::TrainFlags& flags) {
    return std::filesystem::path{flags.output_dir} / "metrics.json";
  }

  /// Continues the cross-validation in the directory if that is asked for, or else begins one
  /// there: results of folds then count no more. Throws `InputError` if the one in the directory
  /// has other settings or other data, or is not to be replaced.
  void begin(const std::vector<cli::TrainFlags>& folds) {
    auto settings = run_settings(parser_.determining_values(), local_, local_.precision);
    for (const char* name : {"epochs", "max-steps"}) {  // a run may be extended, but not all folds
      settings.emplace_back(name, train::value_in(parser_.values(), name));
    }
    const auto file = directory() / "folds.json";
    std::error_code none;
    if (std::filesystem::exists(file, none)) {
      if (given_.continues_by_itself()) return check_settings(file, settings, "a cross-validation");
      if (!given_.overwrite) refuse_to_replace(file, "a cross-validation");
    }
    directory_.create();
    std::filesystem::remove(directory_.metrics(), none);
    std::filesystem::remove(directory() / sink::Published::file_name, none);
    for (const auto& flags : folds) std::filesystem::remove(metrics_of(flags), none);
    json::Writer out;
    out.begin_object();
    train::append(out, "settings", settings);
    write_file_atomically(file, out.end_object().text() + "\n");
  }

  /// Reads the results of all folds, and writes those of the cross-validation.
  void finish() {
    FoldResults results{{.directory = directory(),
                         .file = local_.train_file,
                         .shown_file = given_.dataset.empty() ? given_.train_file : given_.dataset,
                         .read = local_.read_options(),
                         .labels = labels_,
                         .folds = rows_.size(),
                         .examples = examples(),
                         .texts = given_.report_texts,
                         .advice_on_change = "pass --overwrite without --resume"},
                        log_};
    results.read({.labels = labels_.names(), .flags = with_dataset(parser_.values(), local_)});
    {
      const auto lock = directory_.lock();
      results.write();
    }
    if (!given_.job_dir.empty()) {
      sink::publish_once(job_, directory(), FoldResults::files(),
                         "folds_" + dated(std::chrono::system_clock::now()));
    }
    results.tell("The cross-validation is in " + directory().string() +
                 ". It leaves no model: train one without --folds");
  }

  /// Returns the number of examples in all folds.
  [[nodiscard]] std::size_t examples() const {
    std::size_t count = 0;
    for (const auto& rows : rows_) count += rows.size();
    return count;
  }

  const cli::TrainFlags& given_;
  const cli::Flags& parser_;
  const log::Log& log_;
  SeriesSignals signals_;
  cli::TrainFlags local_;
  run::RunDirectory directory_;
  sink::Any job_;  ///< gets the results too
  data::Labels labels_;
  std::vector<std::vector<std::size_t>> rows_ = {};
};

}  // namespace seqtrain::experiment
