#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/experiment/fetch_inputs.hpp>
#include <seqtrain/experiment/job_dir.hpp>
#include <seqtrain/experiment/push_to_hub.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/experiment/several_runs.hpp>
#include <seqtrain/experiment/teacher.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/model/out_of_memory.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/report/tuning.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/run/trials.hpp>
#include <seqtrain/run/tuning.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/selection.hpp>
#include <seqtrain/train/step_watch.hpp>
#include <seqtrain/weights/sentence_form.hpp>

namespace seqtrain::experiment {

/// A tuning: short runs with different values of flags, of which the better half has longer runs,
/// and so on; then a whole run with the best values, whose results are those of the program. Each
/// run of a trial has a folder of its own, and is kept if the tuning is resumed.
class Tuning {
 public:
  using Train = std::function<void(const cli::TrainFlags&)>;

  /// Reads the labels and chooses the trials. The variables of `parser` are those of `bound`, which
  /// gets the values of each run so that they are recorded as if flags had given them. Throws
  /// `InputError` if a flag or a file does not fit.
  Tuning(cli::TrainFlags& bound, cli::Flags& parser, const std::string& name, bool has_own_head,
         const storage::Options& storages)
      : bound_{bound},
        parser_{parser},
        log_{storages.log},
        storages_{storages},
        given_{demand_train_file(bound, "--tune trains on its examples")},
        signals_{given_, log_},
        directory_{given_.run_directory(name)} {
    (void)open_job_dir(given_.job_dir, storages);
    const PushToHub may_push{given_, log_};
    const auto local = with_local_inputs(given_, storages).with_splits();
    type_ = local.choose_labels([](const auto&, const std::string&) {}).problem_type();
    const bool adapts = !has_own_head && !weights::read_sentence_classifier(local.model);
    selection_ = given_.fit_options().selection();
    tuning_.metric = selection_.metric_of(type_);
    auto space = given_.search_space(parser_, type_, adapts);
    if (tuning_.metric == "loss") space.class_weights = false;  // which make it another loss
    choose_trials(space);
    tuning_.settings = run_settings(parser_.determining_values(), local, local.precision);
    for (const char* flag : {"epochs", "max-steps", "tune"}) {
      tuning_.settings.emplace_back(flag, train::value_in(parser_.values(), flag));
    }
    tuning_.settings.emplace_back("teacher", teacher_of(local, storages));
    for (const auto& [flag, value] : parser_.changed_values()) {
      constexpr std::array only{"test-file", "test-split",  "calibrate",
                                "job-dir",   "push-to-hub", "hub-private-repo"};
      if (std::ranges::count(only, flag) > 0) of_model_.push_back(flag);
    }
    given_.output_dir = directory().string();
    given_.tune = 0;  // what follows are single runs
  }

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// Returns the signals that stop the runs.
  [[nodiscard]] SeriesSignals& signals() { return signals_; }

  /// Calls train(flags) for each run of a trial that is not finished, then for the whole run with
  /// the best values. Throws `train::Stopped` if a signal arrives between two runs.
  void operator()(const Train& train) {
    begin();
    std::vector<std::size_t> left(values_.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    const auto rungs = run::rungs_of(values_.size());
    std::vector<std::size_t> order;
    for (std::size_t rung = 0; rung < rungs.size(); ++rung) {
      if (rung > 0) left = run::survivors(order, rungs[rung].trials);
      std::vector<run::TrialScore> scores;
      for (const std::size_t trial : left) {
        scores.push_back(judge({.number = static_cast<std::int64_t>(trial) + 1,
                                .rung = static_cast<std::int64_t>(rung) + 1,
                                .share = rungs[rung].share,
                                .values = values_[trial]},
                               rungs.size(), train));
      }
      order = run::ranked(std::move(scores));
    }
    finish(order.front(), train);
  }

 private:
  /// Returns the fingerprint of the teacher, or "" if there is none.
  static std::string teacher_of(const cli::TrainFlags& flags, const storage::Options& storages) {
    if (flags.teacher.empty()) return {};
    return fingerprint_of_teacher(with_local_teacher(flags, storages).teacher);
  }

  void choose_trials(const run::SearchSpace& space) {
    using Name = std::pair<bool, const char*>;
    std::vector<std::string> fixed;
    for (const auto& [searched, name] :
         {Name{space.learning_rate, "learning-rate"}, Name{space.epochs, "epochs"},
          Name{space.batch_size, "batch-size"}, Name{space.class_weights, "class-weights"},
          Name{space.part, "freeze-encoder"}, Name{space.part, "lora-rank"}}) {
      if (searched) {
        searched_.emplace_back(name);
      } else if (parser_.is_given(name)) {
        fixed.push_back("--" + std::string{name});
      }
    }
    const bool is_rate_of_head_given = parser_.is_given("head-learning-rate");
    if (is_rate_of_head_given) fixed.emplace_back("--head-learning-rate");
    if (space.empty()) {
      throw InputError{"has nothing to search: flags give all values",
                       {.object = "--tune"},
                       "leave out --learning-rate or another of them, or --config if it is a "
                       "run's metrics.json, which gives all"};
    }
    values_ = run::draw_trials(static_cast<std::size_t>(given_.tune), space,
                               static_cast<std::uint64_t>(given_.seed));
    std::vector<std::string> names;
    for (const auto& name : searched_) names.push_back("--" + name);
    log_.info("Tuning: " + std::to_string(values_.size()) + " trials of " + joined(names) +
              (fixed.empty() ? "" : "; " + joined(fixed) + " given, so not searched"));
    if (space.learning_rate && !is_rate_of_head_given) {
      searched_.emplace_back("head-learning-rate");  // follows the learning rate
    }
    tuning_.trials.resize(values_.size());
  }

  /// Locks the directory of the trials, and continues the tuning that is there if that is asked
  /// for. Throws `InputError` if there is one with other settings or other data, or a tuning or a
  /// run that is not to be replaced, or if another program tunes there.
  void begin() {
    check_place();
    lock_.emplace(lock_directory(directory() / "tune"));
    check_place();  // another program may have been there
    bound_ = given_;
    parser_.withdraw("tune");
  }

  void check_place() {
    std::error_code none;
    const bool is_there = std::filesystem::exists(file(), none);
    if (is_there && given_.continues_by_itself()) {
      check_settings(file(), tuning_.settings, "a tuning");
      continues_ = true;
    } else if (is_there && !given_.overwrite) {
      refuse_to_replace(file(), "a tuning");
    }
    if (is_there || given_.overwrite) return;
    // The winner could not be trained here.
    for (const char* name : {"metrics.json", "model", "train_log.jsonl", "checkpoints/run.json"}) {
      if (!std::filesystem::exists(directory() / name, none)) continue;
      throw InputError{"already holds a run that is no tuning: " + std::string{name} + " is there",
                       {.object = directory().string()},
                       "name another directory, or pass --overwrite to replace it"};
    }
  }

  /// Trains a run of a trial unless it is finished, and returns its place in the order.
  run::TrialScore judge(const run::Trial& trial, std::size_t rungs, const Train& train) {
    const auto index = static_cast<std::size_t>(trial.number) - 1;
    const auto flags = given_.of_trial(trial, directory() / "tune");
    const auto metrics = std::filesystem::path{flags.output_dir} / "metrics.json";
    run::TrialResult result{.rung = trial.rung,
                            .share = trial.share,
                            .folder = "tune/" + metrics.parent_path().filename().string()};
    const std::string title = "Trial " + std::to_string(trial.number) + " of " +
                              std::to_string(values_.size()) + ", rung " +
                              std::to_string(trial.rung) + " of " + std::to_string(rungs);
    std::error_code none;
    const bool finished = given_.continues_by_itself() && std::filesystem::exists(metrics, none);
    log_.info(title + (finished ? " is finished: " : ": ") + flags.output_dir);
    signals_.check();
    try {
      if (!finished) train_with(flags, train);
      read(result, tuning_.trials[index].values, metrics);
    } catch (const train::NonfiniteGradient& error) {
      result.problem = error.what();
    } catch (const model::OutOfMemory& error) {
      result.problem = error.what();
    } catch (const c10::Error& error) {  // of the model or the optimizer, which are no batch
      if (!model::is_out_of_memory(error)) throw;
      result.problem = "the device has too little memory for it";
    } catch (const InputError& error) {
      // A label without examples has no weight. Without --tune the first trial is refused too.
      if (trial.number == 1 || error.where().object != "class weights") throw;
      result.problem = error.what();
    }
    if (!result.problem.empty()) {
      log_.warning(title + " has no result: " + result.problem);
      remove_failed(flags);
    }
    run::TrialScore score{.trial = index,
                          .score = result.figure,
                          .loss = result.loss,
                          .balances_classes = trial.values.balances_classes};
    if (!selection_.is_greater_better(tuning_.metric)) score.score = -score.score;
    tuning_.trials[index].runs.push_back(std::move(result));
    save();
    return score;
  }

  /// Removes the folder of a trial without a result, because `compare` reads whole runs, and its
  /// checkpoints.
  void remove_failed(const cli::TrainFlags& trial) const {
    std::error_code none;
    std::filesystem::remove_all(trial.output_dir, none);
    if (trial.checkpoint_dir.empty()) return;
    auto checkpoints = storage::open_writable(trial.checkpoint_dir, storages_);
    for (const auto& key : checkpoints.list("")) checkpoints.remove(key);
  }

  /// Trains with these flags, whose values the parser then has as well.
  void train_with(const cli::TrainFlags& flags, const Train& train) {
    bound_ = flags;
    const auto values = parser_.values();
    for (const auto& name : searched_) {
      parser_.withdraw(name);
      const auto value = train::value_in(values, name);
      if (!value.empty() && value != "false") parser_.count_as_changed(name);
    }
    for (const auto& name : of_model_) {
      flags.trial ? parser_.withdraw(name) : parser_.count_as_changed(name);
    }
    train(bound_);
  }

  /// Reads a run's figures, and the values of the flags that are searched, without the learning
  /// rate of a head that has the encoder's. Throws `Error` if the figure that decides is not there.
  void read(run::TrialResult& result, train::Pairs& values, const std::filesystem::path& metrics) {
    const auto document = json::Document::load(metrics);
    const auto figure_of = [&](std::string_view name) {
      return run::dev_figure(document.root(), name);
    };
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    result.loss = figure_of("loss").value_or(none);
    const auto without_loss = selection_.metric_of(type_, false);
    if (std::isnan(result.loss) && !std::isnan(figure_of(without_loss).value_or(none))) {
      tuning_.metric = without_loss;  // the model tells no losses
    }
    const auto figure = figure_of(tuning_.metric);
    if (!figure) {
      throw Error{"has no metric '" + tuning_.metric + "'",
                  {.object = metrics.string(), .field = "dev"},
                  "name another --metric-for-best-model"};
    }
    result.figure = *figure;
    const auto flags = train::pairs_in(document.root(), "flags");
    values.clear();
    for (const auto& name : searched_) values.emplace_back(name, train::value_in(flags, name));
    std::erase(values, train::Pairs::value_type{"head-learning-rate", ""});
  }

  /// Writes tune.json. When a new tuning writes it first, what it replaces is removed.
  void save() {
    if (!std::exchange(continues_, true)) remove_replaced();
    write_file_atomically(file(), run::tuning_json(tuning_));
  }

  /// Removes the trials of an old tuning, and what tells that a run has finished or could be
  /// continued here. The rest of that run stays until the winner replaces it.
  void remove_replaced() const {
    with_file_errors([this] {
      const std::filesystem::path newest = tuning_.trials.front().runs.front().folder;
      std::vector<std::filesystem::path> old;
      for (const auto& run : std::filesystem::directory_iterator{directory() / "tune"}) {
        const std::string name = run.path().filename().string();
        const bool is_trial = name.starts_with("trial-") && name.find("-rung-") != name.npos;
        if (is_trial && name != newest.filename()) old.push_back(run.path());
      }
      for (const auto& folder : old) std::filesystem::remove_all(folder);
      std::filesystem::remove(directory_.metrics());
    });
    directory_.remove_checkpoints();
  }

  /// Trains the whole run with the values of the best trial.
  void finish(std::size_t best, const Train& train) {
    tuning_.winner = best + 1;
    log_.info("\n" + report::align(report::trial_rows(tuning_)));
    auto& found = tuning_.trials[best].values;
    if (values_[best].part == run::TrainedPart::adapters) {  // the result is a whole model
      searched_.emplace_back("merge-adapter");
      found.emplace_back(searched_.back(), "true");
    }
    save();
    std::string flags;
    for (const auto& [name, value] : found) {
      if (!value.empty()) flags += " --" + name + "=" + cli::shell_word(value);
    }
    log_.info("Trial " + std::to_string(best + 1) + " is best. Without --tune the same run has" +
              flags);
    auto whole = given_.of_winner(values_[best], found);
    whole.tuning = std::make_shared<const run::Tuning>(tuning_);
    signals_.check();
    train_with(whole, train);
  }

  [[nodiscard]] std::filesystem::path file() const { return directory() / "tune.json"; }

  cli::TrainFlags& bound_;
  cli::Flags& parser_;
  const log::Log& log_;
  storage::Options storages_;
  cli::TrainFlags given_;
  SeriesSignals signals_;
  run::RunDirectory directory_;
  ProblemType type_ = ProblemType::single_label;
  train::Selection selection_ = {};
  std::vector<std::string> searched_ = {};  ///< names of flags
  std::vector<std::string> of_model_ = {};  ///< names of given flags that no trial has
  std::vector<run::TrialValues> values_ = {};
  run::Tuning tuning_ = {};
  std::optional<FileLock> lock_ = {};
  bool continues_ = false;  ///< tune.json is this tuning's
};

}  // namespace seqtrain::experiment
