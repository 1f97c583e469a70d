#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/flags/data.hpp>
#include <seqtrain/cli/flags/model.hpp>
#include <seqtrain/cli/flags/output.hpp>
#include <seqtrain/cli/flags/training.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/label_spelling.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/run/trials.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::data {
struct HeldOut;
}  // namespace seqtrain::data

namespace seqtrain::cli {

/// The flags that the training programs share. A member's initial value is the default; an empty
/// string and NaN mean that the flag is not given.
struct TrainFlags : DataFlags,
                    ModelFlags,
                    TrainingFlags,
                    CheckpointFlags,
                    OutputFlags,
                    MachineFlags {
  /// Fills the members from a command line, takes flags that are not given from the environment of
  /// a cloud job, and checks all of them. Returns false if help was asked for.
  bool parse(Flags& flags, int argc, const char* const* argv);

  /// Does so with those flags that `seqtrain baseline` has, which needs no model.
  bool parse_for_baseline(Flags& flags, int argc, const char* const* argv);

  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const;

  /// Returns the labels and the problem type. The names are those that the user gives, else the
  /// model's, else those of the training file. The problem type is the given one, else the model's.
  /// With --join-labels, `join` gets the labels of the training file that are joined. Throws
  /// `InputError` if flags do not fit the problem type.
  [[nodiscard]] data::Labels choose_labels(const data::JoinLabels& join) const;

  /// Returns the flags without the test file if `--split-field` names no record for it. Throws
  /// `InputError` if a split is unknown, or if none is for training or for evaluation.
  [[nodiscard]] TrainFlags with_splits() const;

  /// Returns the name of each training example's group; none without `--group-field`. Throws
  /// `InputError` if there is one group.
  [[nodiscard]] std::vector<std::string> groups(const data::ReadOptions& read,
                                                const data::Labels& names) const;

  /// Holds the share `--dev-fraction` out of the encoded training file. Throws `InputError` that
  /// names the flag if that is no example.
  [[nodiscard]] data::HeldOut hold_out(const data::EncodedFile& whole,
                                       std::span<const std::string> groups = {}) const;

  /// Returns the rows of each fold of `--folds`, given the labels of the training file: with about
  /// the same share of each label, and whole groups with `--group-field`. Throws `InputError` if a
  /// label has fewer examples than there are folds, or if there are fewer groups.
  [[nodiscard]] std::vector<std::vector<std::size_t>> rows_of_folds(
      const data::EncodedSet& set, const data::Labels& names) const;

  /// Returns the flags of a run that is a part of a cross-validation in `directory`. It has a
  /// folder there, and a seed that follows from that of the cross-validation and its number.
  [[nodiscard]] TrainFlags of_fold(Fold part, const std::filesystem::path& directory) const;

  /// Tells whether the run is a part of a cross-validation or of a tuning, which leaves no model.
  [[nodiscard]] bool is_part() const { return fold.has_value() || trial.has_value(); }

  /// Returns what `--tune` searches for this problem type: what no flag of `given` says and what
  /// goes with the other flags. `adapts` tells whether the model can have adapters.
  [[nodiscard]] run::SearchSpace search_space(const Flags& given, ProblemType type,
                                              bool adapts) const;

  /// Returns the flags of a run that is a part of a tuning in `directory`. It has a folder there,
  /// and neither a test file nor anything else that only a model needs.
  [[nodiscard]] TrainFlags of_trial(const run::Trial& part,
                                    const std::filesystem::path& directory) const;

  /// Returns the flags of a whole run with a trial's values. `found` are the values of flags in the
  /// trial's `metrics.json`.
  [[nodiscard]] TrainFlags of_winner(const run::TrialValues& values,
                                     const train::Pairs& found) const;

  /// Returns the options of training batches. This process computes the batches of `shard`.
  [[nodiscard]] data::LoaderOptions train_batches(const data::Shard& shard = {}) const {
    auto options = dev_batches(shard);
    options.plan.batch_size = static_cast<std::size_t>(batch_size);
    options.plan.order = order;
    options.plan.bucket_pool = static_cast<std::size_t>(bucket_pool);
    if (shard.replicas > 1) {
      options.plan.batches_together = static_cast<std::size_t>(shard.replicas * shard.accumulation);
    }
    return options;
  }

  /// Returns the options of evaluation batches. They have at least 64 examples, because an
  /// evaluation needs no memory for gradients. Those of a model that is scored by its loss alone
  /// are as large as training batches, because the loss may compare the examples of a batch.
  [[nodiscard]] data::LoaderOptions dev_batches(const data::Shard& shard = {}) const {
    const std::int64_t least = scored_by_loss ? 1 : 64;
    const auto size = static_cast<std::size_t>(std::max(batch_size, least));
    return {.plan = {.batch_size = size,
                     .tokens_per_batch = static_cast<std::size_t>(tokens_per_batch),
                     .long_rows_alone = long_texts == text::LongTexts::windows,
                     .pad_to_multiple_of = static_cast<std::size_t>(pad_to_multiple_of)},
            .seed = static_cast<std::uint64_t>(seed),
            .workers = static_cast<std::size_t>(dataloader_num_workers),
            .shard = shard};
  }

  /// Returns the options of the model. `Options` is `model::ClassifierOptions`, a parameter because
  /// models belong to the half of the library that needs torch.
  template <class Options, class Tokenizer, class Device>
  [[nodiscard]] Options classifier(const data::Labels& names, const Tokenizer& tokenizer,
                                   const Device& on) const {
    return {.labels = names.names(),
            .problem_type = names.problem_type(),
            .dropout = std::isnan(dropout) ? std::nullopt : std::optional{dropout},
            .tokenizer_size = tokenizer.vocab_size(),
            .ignore_mismatched_sizes = ignore_mismatched_sizes,
            .reinit_layers = reinit_layers,
            .freeze_encoder = freeze_encoder,
            .lora = lora(),
            .few_shot = few_shot,
            .windows = tokenizer.windows(),
            .most_tokens = static_cast<std::size_t>(tokens_per_batch),
            .seed = static_cast<std::uint64_t>(seed),
            .device = on,
            .precision = Options::precision_named(precision)};
  }

  /// Returns the options of a fit whose steps have this many parts.
  [[nodiscard]] train::FitOptions fit_options(std::int64_t parts = 1,
                                              std::stop_token stop = {}) const {
    constexpr double unclipped = std::numeric_limits<double>::infinity();
    return {.epochs = epochs.value_or(0),
            .max_steps = max_steps,
            .gradient_accumulation_steps = gradient_accumulation_steps * parts,
            .max_grad_norm = max_grad_norm == 0 ? unclipped : max_grad_norm,
            .schedule = schedule(),
            .on_nonfinite = on_nonfinite,
            .early_stopping_patience = early_stopping_patience,
            .metric_for_best_model = metric_for_best_model,
            .greater_is_better = greater_is_better,
            .stop = std::move(stop)};
  }

  /// Returns the options of the run's directory. If there are several processes, only the first one
  /// checks that the directory is free.
  [[nodiscard]] run::RunDirectoryOptions run_directory(const std::string& name,
                                                       bool first = true) const;

  /// Tells whether the run still has a checkpoint when it is finished, so that more epochs can
  /// extend it. A run that is continued by itself needs one, so that it does not begin anew.
  [[nodiscard]] bool keeps_checkpoints() const;

  /// Tells whether the run removes the checkpoints that the output directory holds.
  [[nodiscard]] bool replaces_checkpoints() const;

 private:
  void add_to(Flags& flags);
  void add_for_baseline(Flags& flags);

  /// Takes what follows from the flags that are given, and checks all of them. `usual_train_file`
  /// is the default of the training file.
  void settle(const Flags& flags, const std::string& usual_train_file);

  /// Ignores flags of the file of `--config` that contradict one on the command line.
  void prefer_command_line(Flags& flags);

  /// Holds out a tenth of a training file of the user's own if no dev file is given. The default
  /// dev file has other examples.
  void hold_out_without_dev_file(const Flags& flags);

  /// Takes all examples from the training file, because `--split-field` says what each is for.
  void read_splits(const Flags& flags);

  /// Takes the dev examples of `--folds`. Throws `InputError` that names a flag which does not go
  /// with it.
  void take_folds(const Flags& flags);

  /// Throws `InputError` that names a flag which does not go with `--tune`.
  void check_tuning() const;

  /// Moves the places of a part of several runs into folders of this name.
  void enter(const std::string& name, const std::filesystem::path& directory);

  /// Takes a trial's values but for the length and the learning rate, which `choose_values` sets.
  void take(const run::TrialValues& values);

  /// Removes the default files, because `--dataset` names the data. Throws `InputError` if files
  /// are given as well.
  void drop_files(const Flags& flags);

  /// Takes the places that a cloud job gives. The service gives each trial its own places in the
  /// environment. A place that a flag names is the same for all trials, so each trial gets a folder
  /// in it.
  void take(const CloudJob& job);

  /// Throws `InputError` that names a flag which needs predictions or labels, if the model is
  /// scored by its loss alone.
  void check_loss_alone() const;

  [[nodiscard]] ProblemType problem(const json::Value& config) const;

  /// Throws `InputError` if a flag needs single-label classification and `type` is another type.
  void check_flags_of(ProblemType type) const;
};

}  // namespace seqtrain::cli

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/cli/src/train_flags.hpp>
#endif
