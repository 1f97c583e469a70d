#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/data/class_weights.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/train/run_directory.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::cli {

/// Returns the processor cores that each process of this machine has, at least 1. `torchrun` tells
/// their number in `LOCAL_WORLD_SIZE`.
[[nodiscard]] inline std::int64_t default_threads() {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  std::int64_t processes = 1;
  const std::string text = process_environment("LOCAL_WORLD_SIZE").value_or("");
  std::from_chars(text.data(), text.data() + text.size(), processes);
  return std::max<std::int64_t>(1, cores / std::max<std::int64_t>(1, processes));
}

/// The flags that the training programs share. A default is the member's initial value; an empty
/// string and NaN mean: not given.
struct TrainFlags {
  static constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

  // the model and the data
  std::string model = "checkpoints/all-MiniLM-L6-v2";
  std::string train_file = "examples/data/nli/train.jsonl";
  std::string dev_file = "examples/data/nli/dev.jsonl";
  std::string test_file = "";
  double fraction_of_train_data = 1;
  std::int64_t max_length = 0;
  std::string problem_type = "";
  std::vector<std::string> labels = {};
  std::string text_field = "";
  std::string pair_field = "";
  std::string label_field = "";

  // batches
  std::int64_t batch_size = 16;
  std::int64_t tokens_per_batch = 0;
  std::int64_t pad_to_multiple_of = 1;
  std::string order = "bucket";
  std::int64_t dataloader_num_workers = 1;

  // optimization
  std::int64_t epochs = 2;
  std::int64_t max_steps = 0;
  double learning_rate = 5e-5;
  std::string optim = "adam";
  double weight_decay = 0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  std::string lr_scheduler_type = "constant";
  std::int64_t warmup_steps = 0;
  double warmup_ratio = 0;
  double max_grad_norm = 0;
  std::int64_t gradient_accumulation_steps = 1;
  double dropout = not_given;
  bool freeze_encoder = false;
  std::vector<std::string> class_weights = {};
  double label_smoothing_factor = 0;

  // the machine
  std::string device = "auto";
  std::string precision = "auto";
  std::int64_t threads = default_threads();
  std::int64_t seed = 1234;

  // several processes
  std::int64_t replicas = 0;
  std::string reduction = "exact";
  std::string dist_interface = "";

  // checkpoints, and when a run ends early
  std::string checkpoint_dir = "";
  std::int64_t checkpoint_every = 0;
  double checkpoint_minutes = 10;
  std::int64_t keep_checkpoints = 2;
  std::string resume = "";
  double grace_seconds = 25;
  std::string on_nonfinite = "stop";
  std::int64_t early_stopping_patience = 0;
  bool best_model = false;
  std::string metric_for_best_model = "";
  std::string greater_is_better = "";

  // what is written
  std::int64_t log_every = 50;
  std::string output_dir = "";
  bool overwrite = false;
  std::string model_name = "model.pth";
  std::string job_dir = "";
  std::string logging_dir = "";
  std::string hp_tune = "n";
  std::string report_texts = "true";
  std::string calibrate = "no";

  /// Fills the members from a command line, and from the environment of a cloud job where a flag is
  /// not given, and checks them. Returns false if help was asked for.
  bool parse(Flags& flags, int argc, const char* const* argv) {
    describe_data(flags);
    describe_batches(flags);
    describe_optimization(flags);
    describe_checkpoints(flags);
    describe_run(flags);
    if (!flags.parse(argc, argv)) return false;
    if (test_file.empty()) test_file = dev_file;
    take(CloudJob::from_environment());
    if (resume.empty()) resume = checkpoint_dir.empty() ? "never" : "auto";
    validate();
    return true;
  }

  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const {
    require(!model.empty(), "model", "names no directory");
    require(fraction_of_train_data > 0 && fraction_of_train_data <= 1, "fraction-of-train-data",
            "must be above 0 and at most 1");
    require(problem_type.empty() || problem_type_named(problem_type), "problem-type",
            "is unknown: use " + listed_problem_types());
    require(batch_size >= 1, "batch-size", "must be at least 1");
    require(tokens_per_batch >= 0, "tokens-per-batch", "must not be negative");
    require(pad_to_multiple_of >= 1, "pad-to-multiple-of", "must be at least 1");
    require(dataloader_num_workers >= 0, "dataloader-num-workers", "must not be negative");
    require(learning_rate >= 0 && std::isfinite(learning_rate), "learning-rate",
            "must be a number, not negative");
    require(max_grad_norm >= 0, "max-grad-norm", "must not be negative");
    require(std::isnan(dropout) || (dropout >= 0 && dropout < 1), "dropout",
            "must be at least 0 and below 1");
    (void)given_class_weights();
    require(label_smoothing_factor >= 0 && label_smoothing_factor <= 1, "label-smoothing-factor",
            "must be at least 0 and at most 1");
    require(optim == "adam" || optim == "adamw", "optim", "is unknown: use adam or adamw");
    require(threads >= 1, "threads", "must be at least 1");
    require(replicas >= 0, "replicas", "must not be negative");
    require(reduction == "exact" || reduction == "ring", "reduction",
            "is unknown: use exact or ring");
    require(log_every >= 1, "log-every", "must be at least 1");
    require(checkpoint_every >= 0, "checkpoint-every", "must not be negative");
    require(checkpoint_minutes >= 0 && std::isfinite(checkpoint_minutes), "checkpoint-minutes",
            "must be a number, not negative");
    require(keep_checkpoints >= 1, "keep-checkpoints", "must be at least 1");
    require(grace_seconds > 0 && grace_seconds < 1e6, "grace-seconds",
            "must be above 0 and below a million");
    require(on_nonfinite == "stop" || on_nonfinite == "skip", "on-nonfinite",
            "is unknown: use stop or skip");
    require(early_stopping_patience >= 0, "early-stopping-patience", "must not be negative");
    require(
        greater_is_better.empty() || greater_is_better == "true" || greater_is_better == "false",
        "greater-is-better", "must be true or false");
    require(report_texts == "true" || report_texts == "false", "report-texts",
            "must be true or false");
    require(calibrate == "no" || calibrates(), "calibrate",
            "must be yes, no, or a precision above 0 and at most 1");
    require(hp_tune == "y" || hp_tune == "n", "hp-tune", "must be y or n");
    (void)data::order_named(order);
  }

  [[nodiscard]] data::ReadOptions read_options() const {
    return {.text_field = text_field, .pair_field = pair_field, .label_field = label_field};
  }

  /// Returns the names of the labels: those given, else the model's, else those of the training
  /// file; and the problem type: as given, else the model's. Throws `InputError` on flags that do
  /// not go with it.
  [[nodiscard]] data::Labels choose_labels() const {
    const auto config = json::Document::load(std::filesystem::path{model} / "config.json");
    auto options = read_options();
    options.problem_type = problem(config.root());
    if (options.problem_type != ProblemType::single_label) check_flags_of(options.problem_type);
    return data::choose_labels(labels, data::names_in_config(config.root()), train_file, options);
  }

  /// Returns the options of training batches, of which this process computes those of `shard`.
  [[nodiscard]] data::LoaderOptions train_batches(const data::Shard& shard = {}) const {
    auto options = dev_batches(shard);
    options.plan.batch_size = static_cast<std::size_t>(batch_size);
    options.plan.order = data::order_named(order);
    if (shard.replicas > 1) {
      options.plan.batches_together = static_cast<std::size_t>(shard.replicas * shard.accumulation);
    }
    return options;
  }

  /// Returns the options of evaluation batches, which have at least 64 examples, because evaluation
  /// keeps no gradients.
  [[nodiscard]] data::LoaderOptions dev_batches(const data::Shard& shard = {}) const {
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(batch_size, 64));
    return {.plan = {.batch_size = size,
                     .tokens_per_batch = static_cast<std::size_t>(tokens_per_batch),
                     .pad_to_multiple_of = static_cast<std::size_t>(pad_to_multiple_of)},
            .seed = static_cast<std::uint64_t>(seed),
            .workers = static_cast<std::size_t>(dataloader_num_workers),
            .shard = shard};
  }

  /// `Options` is `model::ClassifierOptions`; models are part of the half that needs torch.
  template <class Options, class Tokenizer, class Device>
  [[nodiscard]] Options classifier(const data::Labels& names, const Tokenizer& tokenizer,
                                   const Device& on) const {
    return {.labels = names.names(),
            .problem_type = names.problem_type(),
            .dropout = std::isnan(dropout) ? std::nullopt : std::optional{dropout},
            .tokenizer_size = tokenizer.vocab_size(),
            .freeze_encoder = freeze_encoder,
            .label_smoothing = label_smoothing_factor,
            .seed = static_cast<std::uint64_t>(seed),
            .device = on,
            .precision = Options::precision_named(precision)};
  }

  /// Returns the weights that `--class-weights` asks for with this training set; empty if all
  /// classes count the same.
  [[nodiscard]] std::vector<double> class_weights_for(const data::EncodedSet& train,
                                                      const data::Labels& names) const {
    if (balances_classes()) return data::balanced_weights(train, names);
    require(class_weights.empty() || class_weights.size() == names.size(), "class-weights",
            "needs one for each of: " + names.listed());
    return given_class_weights();
  }

  /// `Options` is `optim::AdamOptions`.
  template <class Options>
  [[nodiscard]] Options adam() const {
    return {.lr = learning_rate,
            .beta1 = adam_beta1,
            .beta2 = adam_beta2,
            .eps = adam_epsilon,
            .weight_decay = weight_decay,
            .decoupled_weight_decay = optim == "adamw"};
  }

  /// Returns the options of a fit whose steps have that many parts.
  [[nodiscard]] train::FitOptions fit_options(std::int64_t parts = 1,
                                              std::stop_token stop = {}) const {
    constexpr double unclipped = std::numeric_limits<double>::infinity();
    return {.epochs = epochs,
            .max_steps = max_steps,
            .gradient_accumulation_steps = gradient_accumulation_steps * parts,
            .max_grad_norm = max_grad_norm == 0 ? unclipped : max_grad_norm,
            .schedule = {.type = optim::schedule_type(lr_scheduler_type),
                         .warmup_steps = warmup_steps,
                         .warmup_ratio = warmup_ratio},
            .on_nonfinite =
                on_nonfinite == "skip" ? train::OnNonfinite::skip : train::OnNonfinite::stop,
            .early_stopping_patience = early_stopping_patience,
            .metric_for_best_model = metric_for_best_model,
            .greater_is_better = greater_is_better.empty()
                                     ? std::nullopt
                                     : std::optional{greater_is_better == "true"},
            .stop = std::move(stop)};
  }

  /// Returns the options of the run's directory. Of several processes only the first one checks
  /// that it is free.
  [[nodiscard]] train::RunDirectoryOptions run_directory(const std::string& name,
                                                         bool first = true) const {
    return {.path = output_dir.empty() ? train::default_run_directory(name)
                                       : std::filesystem::path{output_dir},
            .model_name = model_name,
            .overwrite = overwrite || resume != "never" || !first};
  }

  /// Returns the precision that each label of multi-label classification is to have on dev, if one
  /// is asked for.
  [[nodiscard]] std::optional<double> calibration_precision() const {
    double value = 0;
    const char* const end = calibrate.data() + calibrate.size();
    const auto [rest, error] = std::from_chars(calibrate.data(), end, value);
    if (error != std::errc{} || rest != end || !(value > 0 && value <= 1)) return {};
    return value;
  }

  /// Returns whether a temperature or thresholds are chosen on dev.
  [[nodiscard]] bool calibrates() const {
    return calibrate == "yes" || calibration_precision().has_value();
  }

  /// Returns whether the run reports its figures to a service that tunes hyperparameters.
  [[nodiscard]] bool reports_trial() const { return hp_tune == "y"; }

  /// Returns whether the run removes the checkpoints that the output directory holds.
  [[nodiscard]] bool replaces_checkpoints() const {
    return overwrite && resume == "never" && checkpoint_dir.empty();
  }

 private:
  /// Takes the places of a cloud job. The service gives each trial of a job places of its own in
  /// the environment; places that flags name are the same for all trials, so each gets a folder
  /// there.
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

  /// Throws `InputError` on flags that only go with one label an example.
  void check_flags_of(ProblemType type) const {
    const std::string problem = "does not go with " + std::string{name(type)};
    require(class_weights.empty(), "class-weights", problem);
    require(label_smoothing_factor == 0, "label-smoothing-factor", problem);
    require(labels.empty() || type == ProblemType::multi_label, "labels", problem);
    require(!calibrates() || type == ProblemType::multi_label, "calibrate", problem);
  }

  [[nodiscard]] bool balances_classes() const {
    return class_weights == std::vector<std::string>{"auto"};
  }

  [[nodiscard]] std::vector<double> given_class_weights() const {
    std::vector<double> weights;
    if (balances_classes()) return weights;
    for (const std::string& text : class_weights) {
      double& weight = weights.emplace_back();
      const char* const end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data(), end, weight);
      require(error == std::errc{} && rest == end && weight > 0 && std::isfinite(weight),
              "class-weights", "must be auto, or numbers above 0 with commas between them");
    }
    return weights;
  }

  void describe_data(Flags& flags) {
    flags
        .add(
            "model", model,
            "pre-trained checkpoint: a directory in Hugging Face's layout, gs://, or a name on the "
            "hub, org/name[@revision]")
        .add("train-file", train_file,
             "examples to train on: .jsonl, .tsv or .csv, or a directory with <label>/*.txt")
        .add("dev-file", dev_file, "examples to evaluate on after each epoch")
        .add("test-file", test_file, "examples to evaluate on at the end (default: the dev file)")
        .add("fraction-of-train-data", fraction_of_train_data, "train on the first part only",
             determines_results)
        .add("max-length", max_length,
             "ids an example may have; longer ones are cut (0: as many as the model takes)",
             determines_results)
        .add("problem-type", problem_type,
             "regression, single_label_classification or multi_label_classification (default: the "
             "model's, else one label an example)",
             determines_results)
        .add("labels", labels, "names of the labels in the order of their ids: a,b,c",
             determines_results)
        .add("text-field", text_field, "field or column of the text (default: recognised)",
             determines_results)
        .add("pair-field", pair_field, "field or column of the second text", determines_results)
        .add("label-field", label_field, "field or column of the label", determines_results);
  }

  void describe_batches(Flags& flags) {
    flags.add("batch-size", batch_size, "examples in a batch", determines_results)
        .add("tokens-per-batch", tokens_per_batch,
             "cap on batch x padded width; if above 0 it decides instead of --batch-size",
             determines_results)
        .add("pad-to-multiple-of", pad_to_multiple_of, "round a batch's width up",
             determines_results)
        .add("order", order, "bucket: shuffled, similar lengths together; file: as in the file",
             determines_results)
        .add("dataloader-num-workers", dataloader_num_workers, "threads that prepare batches");
  }

  void describe_optimization(Flags& flags) {
    flags
        .add("epochs", epochs,
             "passes over the training data (other names: num-epochs, num-train-epochs)")
        .alias("num-epochs")
        .alias("num-train-epochs")
        .add("max-steps", max_steps, "optimizer steps; if above 0 it decides instead of --epochs")
        .add("learning-rate", learning_rate, "highest learning rate of the schedule",
             determines_results)
        .add("optim", optim, "adam: decay added to the gradient; adamw: decoupled",
             determines_results)
        .add("weight-decay", weight_decay, "see --optim", determines_results)
        .add("adam-beta1", adam_beta1, "decay of the first moment", determines_results)
        .add("adam-beta2", adam_beta2, "decay of the second moment", determines_results)
        .add("adam-epsilon", adam_epsilon, "added to the denominator", determines_results)
        .add("lr-scheduler-type", lr_scheduler_type,
             "constant, linear, cosine, slanted_triangular or one_cycle", determines_results)
        .add("warmup-steps", warmup_steps, "steps over which the learning rate climbs from 0",
             determines_results)
        .add("warmup-ratio", warmup_ratio, "--warmup-steps as a share of all steps",
             determines_results)
        .add("max-grad-norm", max_grad_norm, "clip gradients to this norm (0: do not)",
             determines_results)
        .add("gradient-accumulation-steps", gradient_accumulation_steps, "batches in a step",
             determines_results)
        .add("dropout", dropout, "every dropout rate, instead of the configuration's",
             determines_results)
        .add_switch("freeze-encoder", freeze_encoder, "train the classification head alone",
                    determines_results)
        .add("class-weights", class_weights,
             "how much each label's examples count in the training loss: w0,w1,… in the order of "
             "the label ids, or auto: the rarer, the more (default: all the same)",
             determines_results)
        .add("label-smoothing-factor", label_smoothing_factor,
             "share of an example's target that is spread over all labels", determines_results);
  }

  void describe_checkpoints(Flags& flags) {
    flags
        .add("checkpoint-dir", checkpoint_dir,
             "where checkpoints are saved: a directory or gs://bucket/path (default: checkpoints "
             "in the output directory)")
        .add("checkpoint-every", checkpoint_every, "steps between two checkpoints (0: by time)")
        .add("checkpoint-minutes", checkpoint_minutes,
             "minutes between two checkpoints (0: by steps)")
        .add("keep-checkpoints", keep_checkpoints, "how many of the newest checkpoints are kept")
        .add("resume", resume,
             "auto: continue from the newest complete checkpoint, if there is one; never; or a "
             "checkpoint's path (default: auto if --checkpoint-dir is given)")
        .add("grace-seconds", grace_seconds,
             "seconds after SIGTERM in which the run is saved and ends")
        .add("on-nonfinite", on_nonfinite,
             "what to do if a gradient is not finite: stop, or skip the step", determines_results)
        .add("early-stopping-patience", early_stopping_patience,
             "end after so many epochs that were no better on the dev file (0: do not)",
             determines_results)
        .add_switch("best-model", best_model, "end with the model of the best dev epoch",
                    determines_results)
        .add("metric-for-best-model", metric_for_best_model,
             "metric that decides which epoch is best: loss, accuracy, macro_f1, micro_f1 or a "
             "metric's own name (default: accuracy; micro_f1 for several labels an example; loss "
             "for regression)",
             determines_results)
        .add("greater-is-better", greater_is_better,
             "whether a larger value is better (default: true unless the name ends in loss or is "
             "perplexity or mean_squared_error)",
             determines_results);
  }

  void describe_run(Flags& flags) {
    flags
        .add(
            "calibrate", calibrate,
            "choose on the dev file a temperature for the scores of the model; with several labels "
            "an example a threshold for each: yes (of the highest F1) or a precision such as 0.9 "
            "(of the highest recall with it)")
        .add("report-texts", report_texts,
             "whether report.html shows texts of examples: true, false")
        .add("device", device, "auto, cpu or cuda")
        .add("precision", precision,
             "precision of matrix products: fp32, bf16 or auto (bf16 where it is native)")
        .add("threads", threads, "threads that compute (default: the cores of a process)")
        .add("replicas", replicas,
             "parts of a step, each of --batch-size examples; as many processes or fewer share "
             "them with equal results (0: as many as processes, or as the checkpoint has)")
        .add("reduction", reduction,
             "how processes add up gradients: exact, or ring, which is the engine's own all-reduce")
        .add("dist-interface", dist_interface,
             "network interface or address for the other processes (default: the one that "
             "reaches rank 0)")
        .add("seed", seed, "seed of the order, the dropout and the new head", determines_results)
        .add("log-every", log_every, "batches between two lines of the training log")
        .add("output-dir", output_dir, "where the run is kept (default: runs/<name>_<date>)")
        .add_switch("overwrite", overwrite, "replace a run that the output directory holds")
        .add("model-name", model_name, "file name of the state_dict")
        .add("job-dir", job_dir,
             "also leave the results in a dated folder here: a directory or gs://bucket/path "
             "(default: AIP_MODEL_DIR)")
        .add("logging-dir", logging_dir,
             "where TensorBoard's event files go: a directory or gs://bucket/path (default: "
             "AIP_TENSORBOARD_LOG_DIR, else none are written)")
        .add("hp-tune", hp_tune,
             "y: report the dev figures to the service that tunes hyperparameters; n: do not");
  }
};

}  // namespace seqtrain::cli
