#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/concepts/optimizer_choice.hpp>
#include <seqtrain/concepts/schedule.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/data/class_weights.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/plan.hpp>
#include <seqtrain/run/trials.hpp>
#include <seqtrain/train/options.hpp>

namespace seqtrain::run {
struct Tuning;
}  // namespace seqtrain::run

namespace seqtrain::cli {

/// The optimizers of `--optim`.
using Optimizer = seqtrain::optim::Choice::Type;

/// The losses of `--loss`. The default one is that of the problem type.
enum class LossChoice { by_problem, focal, huber };

/// The flags about batches, the optimizer and the length of training.
struct TrainingFlags {
  std::int64_t batch_size = 16;
  std::int64_t tokens_per_batch = 0;
  std::int64_t pad_to_multiple_of = 1;
  data::Order order = data::Order::bucket;
  std::int64_t bucket_pool = 1000;
  std::optional<std::int64_t> epochs = {};  ///< none: `choose_values` sets it
  std::int64_t max_steps = 0;
  /// NaN: `choose_values` sets it.
  double learning_rate = std::numeric_limits<double>::quiet_NaN();
  /// NaN: `choose_values` may set it; if not, the head has `learning_rate`.
  double head_learning_rate = std::numeric_limits<double>::quiet_NaN();
  Optimizer optim = Optimizer::adam;
  double layerwise_lr_decay = 1;
  double ema_decay = 0;
  double weight_decay = 0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double momentum = std::numeric_limits<double>::quiet_NaN();
  seqtrain::optim::Schedule::Type lr_scheduler_type = seqtrain::optim::Schedule::Type::linear;
  std::int64_t warmup_steps = 0;
  /// NaN: a tenth of the steps if the rate falls after them, else none.
  double warmup_ratio = std::numeric_limits<double>::quiet_NaN();
  double max_grad_norm = 0;
  std::int64_t gradient_accumulation_steps = 1;
  std::vector<std::string> class_weights = {};
  double label_smoothing_factor = 0;
  LossChoice loss = LossChoice::by_problem;
  double focal_gamma = std::numeric_limits<double>::quiet_NaN();
  double huber_delta = std::numeric_limits<double>::quiet_NaN();
  std::string teacher = "";
  double teacher_temperature = 2;
  double teacher_share = 0.5;
  std::int64_t early_stopping_patience = 0;
  bool best_model = false;
  std::string metric_for_best_model = "";
  std::optional<bool> greater_is_better = {};
  train::OnNonfinite on_nonfinite = train::OnNonfinite::stop;
  std::int64_t seed = 1234;
  bool few_shot = false;
  std::int64_t tune = 0;

  /// Not a flag: the run of a tuning that this run is.
  std::optional<run::Trial> trial = {};
  /// Not a flag: the tuning whose best values this run has, or null.
  std::shared_ptr<const run::Tuning> tuning = {};

  /// Adds the flags as a section of the help.
  void add_to(Flags& flags) {
    flags.section("Training")
        .role(determines_results)
        .add("batch-size", batch_size, "examples in a batch")
        .add("tokens-per-batch", tokens_per_batch,
             "limit on examples x padded width of a batch; if above 0 it replaces --batch-size")
        .add("pad-to-multiple-of", pad_to_multiple_of,
             "round a batch's width up to a multiple of this")
        .add("order", order, {data::order_names.begin(), data::order_names.end()},
             "bucket: shuffled, similar lengths together; shuffle; file: as it is")
        .add("bucket-pool", bucket_pool,
             "batches whose examples are sorted by length together in the order bucket")
        .role(leaves_results_alone)
        .add("epochs", epochs,
             "passes over the training data (default: at least 3, and up to 20 if there are few "
             "examples, for some 300 steps; 2 beyond 50,000 examples)")
        .add("max-steps", max_steps, "optimizer steps; if above 0 it replaces --epochs")
        .role(determines_results)
        .add("learning-rate", learning_rate,
             "highest learning rate of the schedule (default: 5e-5 for an encoder of BERT-base's "
             "size, more for a smaller and less for a larger one, up to 1e-4; ten times that for "
             "adapters or a head alone)")
        .add("head-learning-rate", head_learning_rate,
             "highest learning rate of all that comes after the encoder's layers (default: ten "
             "times the chosen --learning-rate for a new head of six labels or more; else "
             "--learning-rate)");
    add_optimizer_to(flags);
    add_steps_to(flags);
  }

  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const {
    require(batch_size >= 1, "batch-size", "must be at least 1");
    require(tokens_per_batch >= 0, "tokens-per-batch", "must not be negative");
    require(pad_to_multiple_of >= 1, "pad-to-multiple-of", "must be at least 1");
    require(bucket_pool >= 1, "bucket-pool", "must be at least 1");
    require(max_steps >= 0, "max-steps", "must not be negative");
    require(epochs.value_or(1) >= 1 || max_steps >= 1, "epochs", "must be at least 1");
    require(gradient_accumulation_steps >= 1, "gradient-accumulation-steps", "must be at least 1");
    validate_optimizer();
    validate_schedule();
    (void)given_class_weights();
    validate_loss();
    require(label_smoothing_factor >= 0 && label_smoothing_factor <= 1, "label-smoothing-factor",
            "must be at least 0 and at most 1");
    require(early_stopping_patience >= 0, "early-stopping-patience", "must not be negative");
    require(tune == 0 || (tune >= 2 && tune <= 1000), "tune", "must be 0, or 2 to 1000");
  }

  /// Returns the schedule of the learning rate.
  [[nodiscard]] seqtrain::optim::Schedule schedule() const {
    using Type = seqtrain::optim::Schedule::Type;
    const bool falls = lr_scheduler_type == Type::linear || lr_scheduler_type == Type::cosine;
    const double usual = falls && warmup_steps == 0 ? 0.1 : 0;
    return {.type = lr_scheduler_type,
            .warmup_steps = warmup_steps,
            .warmup_ratio = std::isnan(warmup_ratio) ? usual : warmup_ratio};
  }

  /// Returns the weights of the labels in a loss with this training set; none if all count the
  /// same.
  [[nodiscard]] std::vector<double> class_weights_for(const data::EncodedSet& train,
                                                      const data::Labels& names) const {
    if (balances_classes()) return data::balanced_weights(train, names);
    require(class_weights.empty() || class_weights.size() == names.size(), "class-weights",
            "needs one weight for each of: " + names.listed());
    return given_class_weights();
  }

  /// Returns the options of the loss with this training set. `Options` is `model::LossOptions`.
  template <class Options>
  [[nodiscard]] Options loss_for(const data::EncodedSet& train, const data::Labels& names) const {
    Options options{.class_weights = class_weights_for(train, names),
                    .label_smoothing = label_smoothing_factor};
    if (loss == LossChoice::focal) options.focal_gamma = std::isnan(focal_gamma) ? 2 : focal_gamma;
    if (loss == LossChoice::huber) options.huber_delta = std::isnan(huber_delta) ? 1 : huber_delta;
    if (!teacher.empty()) {
      options.teacher = {.temperature = teacher_temperature, .share = teacher_share};
    }
    return options;
  }

  /// Returns the choice of the optimizer, for `optim::make`.
  [[nodiscard]] seqtrain::optim::Choice optimizer() const {
    return {.type = optim,
            .lr = learning_rate,
            .beta1 = adam_beta1,
            .beta2 = adam_beta2,
            .eps = adam_epsilon,
            .momentum = std::isnan(momentum) ? std::nullopt : std::optional{momentum},
            .weight_decay = weight_decay,
            .layerwise_lr_decay = layerwise_lr_decay,
            .head_lr =
                std::isnan(head_learning_rate) ? std::nullopt : std::optional{head_learning_rate}};
  }

 private:
  /// Adds the flags about the optimizer.
  void add_optimizer_to(Flags& flags) {
    using seqtrain::optim::optimizer_names;
    Words<Optimizer> names{optimizer_names.begin(), optimizer_names.end()};
    names.emplace_back("adamw_8bit", Optimizer::adamw_8bit);
    flags
        .add("optim", optim, names,
             "adam: decay added to the gradient; adamw: decoupled; adamw-8bit: its moments take a "
             "byte each; lion; adafactor; sgd; muon: matrices of layers, with adamw for the rest")
        .add("layerwise-lr-decay", layerwise_lr_decay,
             "factor from each layer's learning rate to that of the layer below, such as 0.9; the "
             "head has --head-learning-rate")
        .add("ema-decay", ema_decay,
             "decay of a moving average of the parameters, such as 0.99; the model of the run has "
             "the averages (0: no average)")
        .add("weight-decay", weight_decay, "weight decay; --optim says how it is applied")
        .add("adam-beta1", adam_beta1, "decay of the first moment, and lion's first beta")
        .add("adam-beta2", adam_beta2, "decay of the second moment, and lion's second beta")
        .add("adam-epsilon", adam_epsilon, "number added to the denominator")
        .add("momentum", momentum, "momentum of sgd (default: 0) or muon (default: 0.95)");
  }

  /// Adds the flags about steps, the loss and the best epoch.
  void add_steps_to(Flags& flags) {
    using seqtrain::optim::schedule_names;
    const Words<LossChoice> loss_names{{"default", LossChoice::by_problem},
                                       {"focal", LossChoice::focal},
                                       {"huber", LossChoice::huber}};
    flags
        .add("lr-scheduler-type", lr_scheduler_type, {schedule_names.begin(), schedule_names.end()},
             "constant, linear, cosine, slanted_triangular or one_cycle, which schedules the "
             "momentum "
             "or first beta too")
        .add("warmup-steps", warmup_steps, "steps over which the learning rate climbs from 0")
        .add("warmup-ratio", warmup_ratio,
             "--warmup-steps as a share of all steps (default: 0.1 with linear and cosine, else 0)")
        .add("max-grad-norm", max_grad_norm, "clip gradients to this norm (0: no clipping)")
        .add("gradient-accumulation-steps", gradient_accumulation_steps, "batches in a step")
        .add("class-weights", class_weights,
             "weights of the labels in the loss: w0,w1,… in the order of the label ids, "
             "or auto: rare labels get large weights (default: equal weights)")
        .add("loss", loss, loss_names,
             "default: cross-entropy, or the squared error for regression; focal: right answers "
             "count less; huber, for regression: large errors count less")
        .add("focal-gamma", focal_gamma, "exponent of --loss focal (default: 2)")
        .add("huber-delta", huber_delta,
             "error from which on --loss huber grows linearly (default: 1)")
        .add("label-smoothing-factor", label_smoothing_factor,
             "share of an example's target that is spread over all labels")
        .role(leaves_results_alone)
        .add("teacher", teacher,
             "larger model whose scores for the training texts are learned too: its directory or a "
             "run's, an address such as gs://bucket/path, a name on the hub, or a .jsonl that "
             "predict has written")
        .role(determines_results)
        .add("teacher-temperature", teacher_temperature,
             "divisor of the logits of both models; above 1 it makes their scores more even")
        .add("teacher-share", teacher_share,
             "weight of the teacher's scores in the loss; an example's label has the rest")
        .add("early-stopping-patience", early_stopping_patience,
             "end after this many epochs in a row that were no better on the dev file (0: never)")
        .add_switch("best-model", best_model,
                    "end with the parameters of the epoch that was best on the dev file")
        .add("metric-for-best-model", metric_for_best_model,
             "metric that decides which epoch is best: loss, accuracy, macro_f1, micro_f1 or the "
             "name of a metric of the program (default: accuracy; micro_f1 for multi-label "
             "classification; loss for regression)")
        .add(
            "greater-is-better", greater_is_better, {{"", {}}, {"true", true}, {"false", false}},
            "whether a larger value is better (default: true unless the name is perplexity or ends "
            "in loss, mean_squared_error or mean_absolute_error)")
        .add("on-nonfinite", on_nonfinite,
             {{"stop", train::OnNonfinite::stop}, {"skip", train::OnNonfinite::skip}},
             "what to do if a gradient is not finite: stop, or skip the step")
        .add("seed", seed, "seed of the data order, dropout and the new head")
        .add_switch("few-shot", few_shot,
                    "train a sentence encoder on pairs of a few examples, with setfit's defaults")
        .role(leaves_results_alone)
        .add("tune", tune,
             "search the learning rate and other values that no flag gives in this many trials, "
             "which short runs judge on the dev examples, then train with the best ones (0: no "
             "search)");
  }

  void validate_optimizer() const {
    const auto is_decay = [](double rate) { return rate >= 0 && rate < 1; };
    const auto is_amount = [](double value) { return value >= 0 && std::isfinite(value); };
    require(std::isnan(learning_rate) || is_amount(learning_rate), "learning-rate",
            "must be a number, not negative");
    require(std::isnan(head_learning_rate) || is_amount(head_learning_rate), "head-learning-rate",
            "must be a number, not negative");
    require(std::isnan(head_learning_rate) || learning_rate != 0, "head-learning-rate",
            "needs a --learning-rate above 0");
    require(layerwise_lr_decay > 0 && layerwise_lr_decay <= 1, "layerwise-lr-decay",
            "must be above 0 and at most 1");
    require(is_decay(ema_decay), "ema-decay", "must be at least 0 and below 1");
    require(is_amount(weight_decay), "weight-decay", "must be a number, not negative");
    require(is_decay(adam_beta1), "adam-beta1", "must be at least 0 and below 1");
    require(is_decay(adam_beta2), "adam-beta2", "must be at least 0 and below 1");
    require(is_amount(adam_epsilon), "adam-epsilon", "must be a number, not negative");
    require(std::isnan(momentum) || optimizer().has_momentum(), "momentum",
            "is for --optim sgd and muon");
    require(std::isnan(momentum) || is_decay(momentum), "momentum",
            "must be at least 0 and below 1");
    require(max_grad_norm >= 0, "max-grad-norm", "must not be negative");
  }

  void validate_loss() const {
    const auto is_above_0 = [](double value) { return value > 0 && std::isfinite(value); };
    require(std::isnan(focal_gamma) || (loss == LossChoice::focal && is_above_0(focal_gamma)),
            "focal-gamma", "is a number above 0 for --loss focal");
    require(std::isnan(huber_delta) || (loss == LossChoice::huber && is_above_0(huber_delta)),
            "huber-delta", "is a number above 0 for --loss huber");
    require(label_smoothing_factor == 0 || loss == LossChoice::by_problem, "label-smoothing-factor",
            "does not go with --loss");
    require(is_above_0(teacher_temperature), "teacher-temperature", "must be a number above 0");
    require(teacher_share >= 0 && teacher_share <= 1, "teacher-share",
            "must be at least 0 and at most 1");
    require(!teacher.empty() || (teacher_temperature == 2 && teacher_share == 0.5), "teacher",
            "is needed to learn its scores");
  }

  void validate_schedule() const {
    const bool rises = lr_scheduler_type == seqtrain::optim::Schedule::Type::one_cycle;
    const double ratio = schedule().warmup_ratio;
    require(warmup_steps >= 0, "warmup-steps", "must not be negative");
    require(ratio >= 0 && ratio <= 1, "warmup-ratio", "must be at least 0 and at most 1");
    require(!rises || (warmup_steps == 0 && ratio == 0),
            warmup_steps == 0 ? "warmup-ratio" : "warmup-steps",
            "does not go with one_cycle, which has its own rise");
  }

  [[nodiscard]] bool balances_classes() const {
    return class_weights == std::vector<std::string>{"auto"};
  }

  [[nodiscard]] std::vector<double> given_class_weights() const {
    std::vector<double> weights;
    if (balances_classes()) return weights;
    for (const std::string& text : class_weights) {
      const auto weight = parse_number<double>(text);
      require(weight && *weight > 0 && std::isfinite(*weight), "class-weights",
              "must be auto, or numbers above 0 with commas between them");
      weights.push_back(*weight);
    }
    return weights;
  }
};

}  // namespace seqtrain::cli
