#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/flags/data.hpp>
#include <seqtrain/cli/flags/model.hpp>
#include <seqtrain/cli/flags/output.hpp>
#include <seqtrain/cli/flags/training.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/folds.hpp>
#include <seqtrain/data/hold_out.hpp>
#include <seqtrain/data/label_names.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/run/trials.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::cli {

SEQTRAIN_SEPARATE bool TrainFlags::parse(Flags& flags, int argc, const char* const* argv) {
  add_to(flags);
  flags.add_for_training();
  const std::string usual_train_file = train_file;
  if (!flags.parse(argc, argv)) return false;
  if (!flags.is_given("model")) model = default_model();
  prefer_command_line(flags);
  settle(flags, usual_train_file);
  return true;
}

SEQTRAIN_SEPARATE bool TrainFlags::parse_for_baseline(Flags& flags, int argc,
                                                      const char* const* argv) {
  add_for_baseline(flags);
  const std::string usual_train_file = train_file;
  if (!flags.parse(argc, argv)) return false;
  settle(flags, usual_train_file);
  model.clear();
  resume = "never";  // whatever a cloud job's environment says
  checkpoint_dir.clear();
  return true;
}

SEQTRAIN_SEPARATE void TrainFlags::settle(const Flags& flags, const std::string& usual_train_file) {
  for (const auto& [name, value] : {std::pair{"learning-rate", learning_rate},
                                    {"head-learning-rate", head_learning_rate},
                                    {"warmup-ratio", warmup_ratio}}) {
    require(!flags.is_given(name) || !std::isnan(value), name, "must be a number, not negative");
  }
  if (!dataset.empty()) drop_files(flags);
  labels = data::label_names(std::move(labels));
  if (folds > 0) {
    take_folds(flags);
  } else if (!split_field.empty()) {
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
  if (tune != 0) check_tuning();
  if (scored_by_loss) check_loss_alone();
  validate();
  warmup_ratio = schedule().warmup_ratio;
}

SEQTRAIN_SEPARATE void TrainFlags::validate() const {
  DataFlags::validate();
  ModelFlags::validate();
  TrainingFlags::validate();
  CheckpointFlags::validate();
  OutputFlags::validate();
  MachineFlags::validate();
  require(layerwise_lr_decay == 1 || !freeze_encoder, "layerwise-lr-decay",
          "needs an encoder that learns");
  require(std::isnan(head_learning_rate) || !freeze_encoder, "head-learning-rate",
          "needs an encoder that learns; a head that learns alone has --learning-rate");
  require(split_field.empty() || teacher.empty(), "split-field",
          "does not go with --teacher, which answers all examples of a file");
  require(!skip_unlabelled || teacher.empty(), "skip-unlabelled",
          "does not go with --teacher, which gives the targets of such examples");
  require(optim != Optimizer::muon || !freeze_encoder, "optim",
          "muon steps the encoder's matrices, which --freeze-encoder does not train");
}

namespace detail {

/// Returns the settings of a model, or none if no model is named.
inline json::Document config_of(const std::filesystem::path& model) {
  const auto file = model / "config.json";
  return model.empty() ? json::Document::parse("{}", file.string()) : json::Document::load(file);
}

}  // namespace detail

SEQTRAIN_SEPARATE data::Labels TrainFlags::choose_labels(const data::JoinLabels& join) const {
  if (has_no_labels()) return data::Labels::none();
  const auto config = detail::config_of(model);
  auto options = read_options();
  options.label_optional = !teacher.empty();
  options.problem_type = problem(config.root());
  if (options.problem_type != ProblemType::single_label) check_flags_of(options.problem_type);
  require(!soft_labels || loss == LossChoice::by_problem, "soft-labels", "does not go with --loss");
  require(!soft_labels || teacher.empty(), "soft-labels",
          "does not go with --teacher, which gives the probabilities");
  require(loss != LossChoice::huber || options.problem_type == ProblemType::regression, "loss",
          "huber is for regression; see --problem-type");
  // The labels of a classifier are no targets.
  const bool has_names = options.problem_type != ProblemType::regression ||
                         weights::problem_type_in(config.root()) == ProblemType::regression;
  return data::choose_labels(
      labels, has_names ? weights::chosen_label_names(config.root()) : std::vector<std::string>{},
      train_file, options, join_labels ? join : data::JoinLabels{});
}

SEQTRAIN_SEPARATE TrainFlags TrainFlags::with_splits() const {
  TrainFlags flags = *this;
  if (split_field.empty()) return flags;
  // Before the model is fetched, the flag alone tells the problem.
  std::error_code none_there;
  const bool is_there =
      std::filesystem::exists(std::filesystem::path{model} / "config.json", none_there);
  const auto config = detail::config_of(is_there ? model : "");
  auto read = read_options();
  read.split_field = split_field;
  read.problem_type = problem(config.root());
  const auto counts = data::count_splits(train_file, read);
  const auto count = [&](data::Split split) { return counts[static_cast<std::size_t>(split)]; };
  const auto demand = [&](bool good, const std::string& problem, const std::string& advice) {
    if (!good) throw InputError{problem, {.object = train_file, .field = split_field}, advice};
  };
  const std::string none =
      std::string{"names no record "} + (skip_unlabelled ? "with a label " : "") + "for ";
  demand(count(data::Split::train) > 0, none + "train", "name another field");
  demand((count(data::Split::dev) > 0) != (dev_fraction > 0),
         dev_fraction > 0 ? "names records for dev, and --dev-fraction takes others for that"
                          : none + "dev",
         dev_fraction > 0 ? "leave out --dev-fraction"
                          : "--dev-fraction 0.1 holds out a tenth of those for train");
  flags.test_file = count(data::Split::test) > 0 && !trial ? train_file : "";
  return flags;
}

SEQTRAIN_SEPARATE std::vector<std::string> TrainFlags::groups(const data::ReadOptions& read,
                                                              const data::Labels& names) const {
  if (group_field.empty() || fold) return {};
  auto found = data::values_of(train_file, read, names, group_field);
  if (std::ranges::adjacent_find(found, std::not_equal_to{}) != found.end()) return found;
  throw InputError{"names one group, so none can be held out",
                   {.object = train_file, .field = group_field},
                   "name another field, or a --dev-file"};
}

SEQTRAIN_SEPARATE data::HeldOut TrainFlags::hold_out(const data::EncodedFile& whole,
                                                     std::span<const std::string> groups) const {
  if (fold) return data::hold_out_rows(whole, fold->rows, fraction_of_train_data);
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

SEQTRAIN_SEPARATE run::RunDirectoryOptions TrainFlags::run_directory(const std::string& name,
                                                                     bool first) const {
  return {.path = output_dir.empty() ? run::default_run_directory(name)
                                     : std::filesystem::path{output_dir},
          .model_name = model_name,
          .overwrite = overwrite || !begins_anew() || !first};
}

SEQTRAIN_SEPARATE bool TrainFlags::keeps_checkpoints() const {
  return keep_last_checkpoint || continues_by_itself() || !checkpoint_dir.empty();
}

SEQTRAIN_SEPARATE bool TrainFlags::replaces_checkpoints() const {
  return overwrite && begins_anew() && checkpoint_dir.empty();
}

SEQTRAIN_SEPARATE void TrainFlags::take_folds(const Flags& flags) {
  const auto refuse = [](bool given, const std::string& name, const std::string& reason) {
    require(!given, name, "does not go with --folds" + reason);
  };
  const std::string parts = ", which evaluates on the parts of the training file";
  refuse(flags.is_given("dev-file") && !dev_file.empty(), "dev-file", parts);
  refuse(dev_fraction > 0, "dev-fraction", parts);
  refuse(!dev_split.empty(), "dev-split", parts);
  refuse(!split_field.empty(), "split-field", parts);
  const std::string none = ", which leaves no model";
  refuse(!test_file.empty() || !test_split.empty(), "test-file", none + " to be tested");
  refuse(!push_to_hub.empty(), "push-to-hub", none);
  refuse(merge_adapter, "merge-adapter", none);
  refuse(model_name != OutputFlags{}.model_name, "model-name", none);
  refuse(calibrates(), "calibrate", none);
  refuse(!teacher.empty(), "teacher", ", whose examples may lack labels");
  refuse(hp_tune, "hp-tune", ", whose figures are in metrics.json at its end");
  refuse(!resume.empty() && !continues_by_itself() && !begins_anew(), "resume",
         " if it names a checkpoint; auto continues a cross-validation");
  dev_file.clear();
  dev_fraction = 1 / static_cast<double>(std::max<std::int64_t>(folds, 2));
}

SEQTRAIN_SEPARATE TrainFlags TrainFlags::of_fold(Fold part,
                                                 const std::filesystem::path& directory) const {
  TrainFlags flags = *this;
  const std::string name = "fold-" + std::to_string(part.number);
  flags.enter(name, directory);
  flags.seed = data::seed_of_fold(seed, static_cast<std::uint64_t>(part.number));
  flags.fold = std::move(part);
  return flags;
}

SEQTRAIN_SEPARATE void TrainFlags::enter(const std::string& name,
                                         const std::filesystem::path& directory) {
  output_dir = (directory / name).string();
  for (std::string* place : {&checkpoint_dir, &logging_dir}) {
    if (!place->empty()) *place += (place->ends_with('/') ? "" : "/") + name;
  }
}

SEQTRAIN_SEPARATE void TrainFlags::check_tuning() const {
  const auto refuse = [](bool given, const std::string& name, const std::string& reason) {
    require(!given, name, "does not go with --tune" + reason);
  };
  refuse(folds > 0, "folds", ", which leaves a model");
  refuse(few_shot, "few-shot", ": it has setfit's values");
  refuse(hp_tune, "hp-tune", ", whose trials are no trials of a service");
  refuse(!continues_by_itself() && !begins_anew(), "resume",
         " if it names a checkpoint; auto continues a tuning");
  require(!dev_file.empty() || dev_fraction > 0 || !dataset.empty(), "tune",
          "needs examples to evaluate on: give a --dev-file or a --dev-fraction");
}

SEQTRAIN_SEPARATE run::SearchSpace TrainFlags::search_space(const Flags& given, ProblemType type,
                                                            bool adapts) const {
  const auto is_free = [&](const std::string& name) { return !given.is_given(name); };
  const bool learns_all = !freeze_encoder && lora_rank == 0 && reinit_layers == 0 &&
                          layerwise_lr_decay == 1 && std::isnan(head_learning_rate);
  return {.learning_rate = is_free("learning-rate"),
          .epochs = is_free("epochs") && max_steps == 0,
          // A loss of its own may be lower with fewer examples a batch.
          .batch_size = is_free("batch-size") && tokens_per_batch == 0 && !scored_by_loss,
          .class_weights = is_free("class-weights") && class_weights.empty() && has_labels(type),
          .part = is_free("freeze-encoder") && is_free("lora-rank") && learns_all && adapts &&
                  optim != Optimizer::muon};
}

SEQTRAIN_SEPARATE void TrainFlags::take(const run::TrialValues& values) {
  const double examples = static_cast<double>(batch_size) * values.batch_size;
  batch_size = std::max<std::int64_t>(1, std::llround(examples));
  if (values.balances_classes) class_weights = {"auto"};
  if (values.part == run::TrainedPart::adapters) lora_rank = 8;
  if (values.part == run::TrainedPart::head) freeze_encoder = true;
}

SEQTRAIN_SEPARATE TrainFlags TrainFlags::of_trial(const run::Trial& part,
                                                  const std::filesystem::path& directory) const {
  TrainFlags flags = *this;
  flags.enter("trial-" + std::to_string(part.number) + "-rung-" + std::to_string(part.rung),
              directory);
  flags.take(part.values);
  flags.trial = part;
  flags.test_file.clear();
  flags.test_split.clear();
  flags.job_dir.clear();
  flags.push_to_hub.clear();
  flags.hub_private_repo = false;
  flags.calibrate = "no";
  flags.no_baseline = true;
  return flags;
}

SEQTRAIN_SEPARATE TrainFlags TrainFlags::of_winner(const run::TrialValues& values,
                                                   const train::Pairs& found) const {
  TrainFlags flags = *this;
  flags.take(values);
  if (values.part == run::TrainedPart::adapters) flags.merge_adapter = true;
  for (const auto& [name, rate] : {std::pair{"learning-rate", &flags.learning_rate},
                                   {"head-learning-rate", &flags.head_learning_rate}}) {
    *rate = parse_number<double>(train::value_in(found, name)).value_or(*rate);
  }
  if (const auto count = parse_number<std::int64_t>(train::value_in(found, "epochs"))) {
    flags.epochs = *count;
  }
  return flags;
}

SEQTRAIN_SEPARATE std::vector<std::vector<std::size_t>> TrainFlags::rows_of_folds(
    const data::EncodedSet& set, const data::Labels& names) const {
  const auto labels_of_rows = set.arrays().labels;
  const auto count = static_cast<std::size_t>(folds);
  const auto begin = static_cast<std::uint64_t>(seed);
  const auto where = [&](const std::string& field = "") {
    return Where{.object = train_file, .field = field};
  };
  const std::string fewer = ", fewer than --folds " + std::to_string(folds);
  if (!group_field.empty()) {
    const auto of_rows = groups(read_options(), names);
    const std::set<std::string_view> all(of_rows.begin(), of_rows.end());
    if (all.size() < count) {
      throw InputError{"names " + std::to_string(all.size()) + " groups" + fewer,
                       where(group_field), "name fewer folds, or another field"};
    }
    return data::folds_by_group(labels_of_rows, of_rows, count, begin);
  }
  const bool has_classes =
      has_labels(names.problem_type()) && (names.soft() || set.targets(0).empty());
  for (std::size_t id = 0; id < names.size() && has_classes; ++id) {
    const auto rows = std::ranges::count(labels_of_rows, static_cast<std::int32_t>(id));
    if (rows == 0 || rows >= folds) continue;
    throw InputError{"has " + std::to_string(rows) + " example" + (rows == 1 ? "" : "s") +
                         " of the label '" + shown(names.name(id)) + "'" + fewer,
                     where(), "name fewer folds, or leave such examples out"};
  }
  const auto labelled = std::ranges::count_if(labels_of_rows, [](auto id) { return id >= 0; });
  if (labelled < folds) {
    throw InputError{"has " + std::to_string(labelled) + " examples with a label" + fewer, where()};
  }
  return data::folds_by_label(labels_of_rows, count, begin);
}

SEQTRAIN_SEPARATE void TrainFlags::add_to(Flags& flags) {
  DataFlags::add_to(flags);
  ModelFlags::add_to(flags);
  TrainingFlags::add_to(flags);
  CheckpointFlags::add_to(flags);
  OutputFlags::add_to(flags);
  MachineFlags::add_to(flags);
}

SEQTRAIN_SEPARATE void TrainFlags::add_for_baseline(Flags& flags) {
  DataFlags::add_examples_to(flags);
  flags.section("Training")
      .role(determines_results)
      .add("class-weights", class_weights,
           "weights of the labels: w0,w1,… in the order of the label ids, or auto: rare labels get "
           "large weights (default: equal weights)")
      .add("seed", seed, "seed of the choice of dev examples");
  flags.section("Output")
      .add("output-dir", output_dir, "directory of the run (default: runs/baseline_<date>)")
      .add_switch("overwrite", overwrite, "replace a run that the output directory holds")
      .add("job-dir", job_dir,
           "place that also gets the results, in a dated folder: a directory or an address, such "
           "as gs://bucket/path "
           "(default: AIP_MODEL_DIR)")
      .add("calibrate", calibrate,
           "choose a temperature for the model's scores on the dev file, or in multi-label "
           "classification a threshold for each label: yes (for the highest F1), a precision such "
           "as 0.9 (for the highest recall at that precision) or no");
  flags.section("Machine").add("threads", threads,
                               "threads that compute (default: the machine's cores)");
}

SEQTRAIN_SEPARATE void TrainFlags::prefer_command_line(Flags& flags) {
  const DataFlags defaults;
  const auto prefer = [&](const std::string& name, const std::string& other, auto& value,
                          const auto& initial) {
    if (!flags.overrides(name, other)) return;
    value = initial;
    flags.withdraw(other);
  };
  prefer("dev-fraction", "dev-file", dev_file, defaults.dev_file);
  prefer("dev-file", "dev-fraction", dev_fraction, defaults.dev_fraction);
  prefer("folds", "dev-fraction", dev_fraction, defaults.dev_fraction);
  prefer("folds", "dev-file", dev_file, defaults.dev_file);
  prefer("folds", "test-file", test_file, defaults.test_file);
  prefer("folds", "merge-adapter", merge_adapter, ModelFlags{}.merge_adapter);
  prefer("folds", "model-name", model_name, OutputFlags{}.model_name);
  prefer("learning-rate", "head-learning-rate", head_learning_rate,
         TrainingFlags{}.head_learning_rate);
  prefer("lr-scheduler-type", "warmup-ratio", warmup_ratio, TrainingFlags{}.warmup_ratio);
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

SEQTRAIN_SEPARATE void TrainFlags::hold_out_without_dev_file(const Flags& flags) {
  const bool has_dev_file = flags.is_given("dev-file") && !dev_file.empty();
  if (has_dev_file || dev_fraction > 0) return;
  dev_fraction = 0.1;
  holds_out_by_default = true;
}

SEQTRAIN_SEPARATE void TrainFlags::read_splits(const Flags& flags) {
  require(dataset.empty(), "split-field", "does not go with --dataset: it is for one file");
  for (const auto& [name, file] : {std::pair{"dev-file", &dev_file}, {"test-file", &test_file}}) {
    const bool is_other = flags.is_given(name) && !file->empty() && *file != train_file;
    require(!is_other, name, "does not go with --split-field");
    *file = train_file;
  }
  if (dev_fraction > 0) dev_file.clear();
}

SEQTRAIN_SEPARATE void TrainFlags::drop_files(const Flags& flags) {
  for (const auto& [name, file] :
       {std::pair{"train-file", &train_file}, {"dev-file", &dev_file}, {"test-file", &test_file}}) {
    require(!flags.is_given(name) || file->empty(), name, "does not go with --dataset");
    file->clear();
  }
}

SEQTRAIN_SEPARATE void TrainFlags::take(const CloudJob& job) {
  for (std::string* place : {&output_dir, &job_dir, &checkpoint_dir, &logging_dir}) {
    *place = job.place_of_trial(*place);
  }
  if (checkpoint_dir.empty()) checkpoint_dir = job.checkpoint_dir;
  if (logging_dir.empty()) logging_dir = job.tensorboard_dir;
}

SEQTRAIN_SEPARATE void TrainFlags::check_loss_alone() const {
  const auto refuse = [](bool given, const std::string& name) {
    require(!given, name, "does not go with this program: its model is scored by its loss alone");
  };
  refuse(few_shot, "few-shot");
  refuse(folds > 0, "folds");
  refuse(!teacher.empty(), "teacher");
  refuse(calibrates(), "calibrate");
  refuse(!class_weights.empty(), "class-weights");
  refuse(label_smoothing_factor > 0, "label-smoothing-factor");
  refuse(loss != LossChoice::by_problem, "loss");
  refuse(soft_labels, "soft-labels");
  refuse(!labels.empty(), "labels");
  refuse(join_labels, "join-labels");
  refuse(skip_unlabelled, "skip-unlabelled");
  refuse(long_texts == text::LongTexts::windows, "long-texts");
  require(metric_for_best_model.empty() || metric_for_best_model == "loss", "metric-for-best-model",
          "must be loss: the model of this program is scored by its loss alone");
}

SEQTRAIN_SEPARATE ProblemType TrainFlags::problem(const json::Value& config) const {
  if (const auto given = problem_type_named(problem_type)) return *given;
  return weights::problem_type_in(config).value_or(ProblemType::single_label);
}

SEQTRAIN_SEPARATE void TrainFlags::check_flags_of(ProblemType type) const {
  const std::string problem = "does not go with " + std::string{name(type)};
  require(class_weights.empty() || has_labels(type), "class-weights", problem);
  require(loss != LossChoice::focal || has_labels(type), "loss", "focal " + problem);
  require(label_smoothing_factor == 0, "label-smoothing-factor", problem);
  require(!soft_labels, "soft-labels", problem);
  require(teacher.empty(), "teacher", problem);
  require(!few_shot, "few-shot", problem);
  require(!calibrates() || type == ProblemType::multi_label, "calibrate", problem);
}

}  // namespace seqtrain::cli
