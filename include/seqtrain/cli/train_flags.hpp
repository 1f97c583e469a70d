#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/flags/data.hpp>
#include <seqtrain/cli/flags/model.hpp>
#include <seqtrain/cli/flags/output.hpp>
#include <seqtrain/cli/flags/training.hpp>
#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/hold_out.hpp>
#include <seqtrain/data/label_names.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

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
  bool parse(Flags& flags, int argc, const char* const* argv) {
    add_to(flags);
    flags.add_for_training();
    const std::string usual_train_file = train_file;
    if (!flags.parse(argc, argv)) return false;
    if (!flags.is_given("model")) model = default_model();
    prefer_command_line(flags);
    if (!dataset.empty()) drop_files(flags);
    labels = data::label_names(std::move(labels));
    if (!split_field.empty()) {
      read_splits(flags);
    } else if (train_file != usual_train_file && dataset.empty()) {
      hold_out_without_dev_file(flags);
    }
    if (dev_fraction > 0) {
      require(!flags.is_given("dev-file") || dev_file.empty(), "dev-fraction",
              "does not go with --dev-file: it takes the dev examples from the training file");
      dev_file.clear();
    }
    take(CloudJob::from_environment());
    if (resume.empty()) resume = checkpoint_dir.empty() ? "never" : "auto";
    validate();
    return true;
  }

  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const {
    DataFlags::validate();
    ModelFlags::validate();
    TrainingFlags::validate();
    CheckpointFlags::validate();
    OutputFlags::validate();
    MachineFlags::validate();
    require(layerwise_lr_decay == 1 || !freeze_encoder, "layerwise-lr-decay",
            "needs an encoder that learns");
    require(!skip_unlabelled || teacher.empty(), "skip-unlabelled",
            "does not go with --teacher, which gives the targets of such examples");
    require(optim != Optimizer::muon || !freeze_encoder, "optim",
            "muon steps the encoder's matrices, which --freeze-encoder does not train");
  }

  /// Returns the labels and the problem type. The names are those that the user gives, else the
  /// model's, else those of the training file. The problem type is the given one, else the model's.
  /// With --join-labels, `join` gets the labels of the training file that are joined. Throws
  /// `InputError` if flags do not fit the problem type.
  [[nodiscard]] data::Labels choose_labels(const data::JoinLabels& join) const {
    const auto config = json::Document::load(std::filesystem::path{model} / "config.json");
    auto options = read_options();
    options.label_optional = !teacher.empty();
    options.problem_type = problem(config.root());
    if (options.problem_type != ProblemType::single_label) check_flags_of(options.problem_type);
    require(!soft_labels || loss == LossChoice::by_problem, "soft-labels",
            "does not go with --loss");
    require(!soft_labels || teacher.empty(), "soft-labels",
            "does not go with --teacher, which gives the probabilities");
    require(loss != LossChoice::huber || options.problem_type == ProblemType::regression, "loss",
            "huber is for regression; see --problem-type");
    return data::choose_labels(labels, weights::chosen_label_names(config.root()), train_file,
                               options, join_labels ? join : data::JoinLabels{});
  }

  /// Returns the flags without the test file if `--split-field` names no record for it. Throws
  /// `InputError` if a split is unknown, or if none is for training or for evaluation.
  [[nodiscard]] TrainFlags with_splits() const {
    TrainFlags flags = *this;
    if (split_field.empty()) return flags;
    auto read = read_options();
    read.split_field = split_field;
    const auto counts = data::count_splits(train_file, read);
    const auto count = [&](data::Split split) { return counts[static_cast<std::size_t>(split)]; };
    const auto demand = [&](bool good, const std::string& problem, const std::string& advice) {
      if (!good) throw InputError{problem, {.object = train_file, .field = split_field}, advice};
    };
    demand(count(data::Split::train) > 0, "names no record for train", "name another field");
    demand((count(data::Split::dev) > 0) != (dev_fraction > 0),
           dev_fraction > 0 ? "names records for dev, and --dev-fraction takes others for that"
                            : "names no record for dev",
           dev_fraction > 0 ? "leave out --dev-fraction"
                            : "--dev-fraction 0.1 holds out a tenth of those for train");
    flags.test_file = count(data::Split::test) > 0 ? train_file : "";
    return flags;
  }

  /// Returns the name of each training example's group; none without `--group-field`. Throws
  /// `InputError` if there is one group.
  [[nodiscard]] std::vector<std::string> groups(const data::ReadOptions& read,
                                                const data::Labels& names) const {
    if (group_field.empty()) return {};
    auto found = data::values_of(train_file, read, names, group_field);
    if (std::ranges::adjacent_find(found, std::not_equal_to{}) != found.end()) return found;
    throw InputError{"names one group, so none can be held out",
                     {.object = train_file, .field = group_field},
                     "name another field, or a --dev-file"};
  }

  /// Holds the share `--dev-fraction` out of the encoded training file. Throws `InputError` that
  /// names the flag if that is no example.
  [[nodiscard]] data::HeldOut hold_out(const data::EncodedFile& whole,
                                       std::span<const std::string> groups = {}) const {
    try {
      return data::hold_out(whole, {.share = dev_fraction,
                                    .seed = static_cast<std::uint64_t>(seed),
                                    .train_fraction = fraction_of_train_data,
                                    .groups = groups});
    } catch (const InputError& error) {
      if (error.where().object != "split") throw;
      throw InputError{flag_text(dev_fraction) + " of the " + std::to_string(whole.set.size()) +
                           " examples in " + train_file + " is no example to evaluate on",
                       {.object = "--dev-fraction"},
                       "give a larger share, or a --dev-file"};
    }
  }

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
  /// evaluation needs no memory for gradients.
  [[nodiscard]] data::LoaderOptions dev_batches(const data::Shard& shard = {}) const {
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(batch_size, 64));
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
    return {.epochs = epochs,
            .max_steps = max_steps,
            .gradient_accumulation_steps = gradient_accumulation_steps * parts,
            .max_grad_norm = max_grad_norm == 0 ? unclipped : max_grad_norm,
            .schedule = {.type = lr_scheduler_type,
                         .warmup_steps = warmup_steps,
                         .warmup_ratio = warmup_ratio},
            .on_nonfinite = on_nonfinite,
            .early_stopping_patience = early_stopping_patience,
            .metric_for_best_model = metric_for_best_model,
            .greater_is_better = greater_is_better,
            .stop = std::move(stop)};
  }

  /// Returns the options of the run's directory. If there are several processes, only the first one
  /// checks that the directory is free.
  [[nodiscard]] run::RunDirectoryOptions run_directory(const std::string& name,
                                                       bool first = true) const {
    return {.path = output_dir.empty() ? run::default_run_directory(name)
                                       : std::filesystem::path{output_dir},
            .model_name = model_name,
            .overwrite = overwrite || !begins_anew() || !first};
  }

  /// Tells whether the run still has a checkpoint when it is finished, so that more epochs can
  /// extend it. A run that is continued by itself needs one, so that it does not begin anew.
  [[nodiscard]] bool keeps_checkpoints() const {
    return keep_last_checkpoint || continues_by_itself() || !checkpoint_dir.empty();
  }

  /// Tells whether the run removes the checkpoints that the output directory holds.
  [[nodiscard]] bool replaces_checkpoints() const {
    return overwrite && begins_anew() && checkpoint_dir.empty();
  }

 private:
  void add_to(Flags& flags) {
    DataFlags::add_to(flags);
    ModelFlags::add_to(flags);
    TrainingFlags::add_to(flags);
    CheckpointFlags::add_to(flags);
    OutputFlags::add_to(flags);
    MachineFlags::add_to(flags);
  }

  /// Ignores flags of the file of `--config` that contradict one on the command line.
  void prefer_command_line(Flags& flags) {
    const DataFlags defaults;
    const auto prefer = [&](const std::string& name, const std::string& other, auto& value,
                            const auto& initial) {
      if (!flags.overrides(name, other)) return;
      value = initial;
      flags.withdraw(other);
    };
    prefer("dev-fraction", "dev-file", dev_file, defaults.dev_file);
    prefer("dev-file", "dev-fraction", dev_fraction, defaults.dev_fraction);
    prefer("dataset", "train-file", train_file, defaults.train_file);
    prefer("dataset", "dev-file", dev_file, defaults.dev_file);
    prefer("dataset", "test-file", test_file, defaults.test_file);
    for (const char* file : {"train-file", "dev-file", "test-file"}) {
      prefer(file, "dataset", dataset, defaults.dataset);
      prefer(file, "train-split", train_split, defaults.train_split);
      prefer(file, "dev-split", dev_split, defaults.dev_split);
      prefer(file, "test-split", test_split, defaults.test_split);
    }
  }

  /// Holds out a tenth of a training file of the user's own if no dev file is given. The default
  /// dev file has other examples.
  void hold_out_without_dev_file(const Flags& flags) {
    const bool has_dev_file = flags.is_given("dev-file") && !dev_file.empty();
    if (has_dev_file || dev_fraction > 0) return;
    dev_fraction = 0.1;
    holds_out_by_default = true;
  }

  /// Takes all examples from the training file, because `--split-field` says what each is for.
  void read_splits(const Flags& flags) {
    require(dataset.empty(), "split-field", "does not go with --dataset: it is for one file");
    for (const auto& [name, file] : {std::pair{"dev-file", &dev_file}, {"test-file", &test_file}}) {
      const bool is_other = flags.is_given(name) && !file->empty() && *file != train_file;
      require(!is_other, name, "does not go with --split-field");
      *file = train_file;
    }
    if (dev_fraction > 0) dev_file.clear();
  }

  /// Removes the default files, because `--dataset` names the data. Throws `InputError` if files
  /// are given as well.
  void drop_files(const Flags& flags) {
    for (const auto& [name, file] : {std::pair{"train-file", &train_file},
                                     {"dev-file", &dev_file},
                                     {"test-file", &test_file}}) {
      require(!flags.is_given(name) || file->empty(), name, "does not go with --dataset");
      file->clear();
    }
  }

  /// Takes the places that a cloud job gives. The service gives each trial its own places in the
  /// environment. A place that a flag names is the same for all trials, so each trial gets a folder
  /// in it.
  void take(const CloudJob& job) {
    for (std::string* place : {&output_dir, &job_dir, &checkpoint_dir, &logging_dir}) {
      *place = job.place_of_trial(*place);
    }
    if (checkpoint_dir.empty()) checkpoint_dir = job.checkpoint_dir;
    if (logging_dir.empty()) logging_dir = job.tensorboard_dir;
  }

  [[nodiscard]] ProblemType problem(const json::Value& config) const {
    if (const auto given = problem_type_named(problem_type)) return *given;
    return weights::problem_type_in(config).value_or(ProblemType::single_label);
  }

  /// Throws `InputError` if a flag needs single-label classification and `type` is another type.
  void check_flags_of(ProblemType type) const {
    const std::string problem = "does not go with " + std::string{name(type)};
    require(class_weights.empty() || has_labels(type), "class-weights", problem);
    require(loss != LossChoice::focal || has_labels(type), "loss", "focal " + problem);
    require(label_smoothing_factor == 0, "label-smoothing-factor", problem);
    require(!soft_labels, "soft-labels", problem);
    require(teacher.empty(), "teacher", problem);
    require(!few_shot, "few-shot", problem);
    require(labels.empty() || type == ProblemType::multi_label, "labels", problem);
    require(!calibrates() || type == ProblemType::multi_label, "calibrate", problem);
  }
};

}  // namespace seqtrain::cli
