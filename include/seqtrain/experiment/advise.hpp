#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <seqtrain/concepts/optimizer_choice.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/run/advice.hpp>
#include <seqtrain/run/deviation.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/run/tuning.hpp>
#include <seqtrain/train/fit.hpp>

namespace seqtrain::experiment {

/// Tells whether a run's loss of training is of the same kind as its loss on dev.
[[nodiscard]] inline bool is_loss_of_dev(const cli::TrainFlags& flags) {
  return flags.loss == cli::LossChoice::by_problem && flags.label_smoothing_factor == 0 &&
         flags.teacher.empty() && !flags.few_shot;
}

/// Returns the facts of a run that its advice follows from. `model_max_length` is the most ids that
/// the model reads, and `training_loss` the mean loss of its last epoch's steps.
[[nodiscard]] inline run::AdviceFacts advice_facts(const Prepared& run, const Examples& examples,
                                                   std::int64_t model_max_length,
                                                   const train::FitReport& report,
                                                   double training_loss,
                                                   const run::KeptPredictions& kept) {
  const cli::TrainFlags& flags = run.flags;
  run::AdviceFacts facts{.dev = report.dev,
                         .epoch_of_model = report.epoch_of_model,
                         .selection = flags.fit_options().selection(),
                         .labels = run.labels.names(),
                         .max_length = examples.train.max_length,
                         .model_max_length = static_cast<std::size_t>(model_max_length),
                         .tokens_a_word = run.tokens_a_word,
                         .vocabulary = run.tokenizer.vocab_size(),
                         .steps = report.steps,
                         .has_class_weights = !flags.class_weights.empty(),
                         .tuned_trials = run::count_trials(flags.tuning),
                         .has_test = run.results.test.has_value()};
  if (const auto& data = run.results.data) {
    facts.training_labels = data->train.labels;
    facts.training_examples = data->train.examples;
    facts.cut_examples = run.tokenizer.windows() ? 0 : data->train.at_max_length;
  }
  if (is_loss_of_dev(flags)) facts.training_loss = training_loss;
  const auto* const predictions = kept.find("dev");
  if (predictions != nullptr && predictions->problem_type == ProblemType::regression) {
    for (std::size_t target = 0; target < predictions->labels(); ++target) {  // the best learnt one
      facts.r_squared = std::fmax(facts.r_squared, run::deviation(*predictions, target).r_squared);
    }
  }
  const bool few_parameters = flags.freeze_encoder || flags.lora_rank > 0;
  if (few_parameters) facts.high_learning_rate *= 10;
  const auto type = flags.optim;
  if (type == cli::Optimizer::adam || type == cli::Optimizer::adamw) {
    facts.learning_rate = flags.learning_rate;
    facts.head_learning_rate = flags.head_learning_rate;
  }
  return facts;
}

}  // namespace seqtrain::experiment
