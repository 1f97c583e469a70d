#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags/chosen_values.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_report.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

/// Tells whether the checkpoint lacks the head, or has a part of it in other sizes.
[[nodiscard]] inline bool has_new_head(const model::AnyClassifier& model) {
  const model::LoadReport& report = model.load_report();
  const auto is_new = [&](const tensor::Parameter& parameter) {
    return parameter.depth.part == tensor::Depth::Part::head &&
           (std::ranges::count(report.fresh, parameter.name) > 0 ||
            std::ranges::count(report.resized, parameter.name) > 0);
  };
  return std::ranges::any_of(model.parameters(), is_new);
}

/// Returns the size of a run with these training examples.
[[nodiscard]] inline cli::RunSize size_of(const Prepared& run, const data::EncodedSet& train) {
  const cli::TrainFlags& flags = run.flags;
  std::int64_t of_batch = flags.batch_size;
  if (flags.tokens_per_batch > 0) {
    std::size_t ids = 0;
    for (std::size_t row = 0; row < train.size(); ++row) ids += train.length(row);
    const auto mean = std::max<std::size_t>(1, ids / std::max<std::size_t>(1, train.size()));
    of_batch = std::max<std::int64_t>(1, flags.tokens_per_batch / static_cast<std::int64_t>(mean));
  }
  return {.examples = train.size(),
          .hidden_size = run.model.config().hidden_size,
          .step_examples = of_batch * flags.gradient_accumulation_steps * run.replicas,
          .trains_few = flags.freeze_encoder || flags.lora_rank > 0,
          .has_new_head = has_new_head(run.model),
          .labels = run.labels.size(),
          .regression = run.labels.problem_type() == ProblemType::regression};
}

/// Tells whether the run continues a checkpoint of a run in which the head had no learning rate of
/// its own.
[[nodiscard]] inline bool continues_with_one_rate(const Program& program, const Prepared& run) {
  std::string answer;
  if (run.checkpoints) {  // only the first process has them
    const auto saved = run.checkpoints->checkpointer().saved_settings();
    const bool has_one_rate = train::value_in(saved, "head-learning-rate").empty();
    answer = !saved.empty() && has_one_rate ? "yes" : "no";
  }
  return program.processes.group().broadcast(answer) == "yes";
}

/// Chooses the number of epochs and the learning rates of a run if no flag gives them, or takes
/// those of a trial, and logs and records them. A resumed run must have the same learning rates.
inline void choose_values(const Program& program, Prepared& run, const data::EncodedSet& train) {
  cli::RunSize size = size_of(run, train);
  if (cli::chooses_rate_of_head(run.flags, size) && continues_with_one_rate(program, run)) {
    size.has_new_head = false;
  }
  run.chosen = cli::choose_values(run.flags, size);
  if (run.chosen.empty() || !program.processes.is_first()) return;
  std::vector<std::string> parts;
  for (const auto& [name, value] : run.chosen) {
    train::replace(run.results.flags, {name, value});
    if (name == "learning-rate") run.checkpoints->checkpointer().add_setting(name, value);
    parts.push_back("--" + name + ' ' + value);
  }
  program.log.info("Chosen for " + std::to_string(train.size()) +
                   " training examples: " + joined(parts, " and "));
}

/// Demands the chosen learning rate of the head of a resumed run too, or takes it back if the model
/// that is trained does not say which of its parameters are its head. Throws `InputError` if a flag
/// gives such a model that rate.
inline void settle_rate_of_head(const Program& program, Prepared& run, bool tells_head) {
  const std::string name = "head-learning-rate";
  const std::string chosen = train::value_in(run.chosen, name);
  const bool is_given = chosen.empty() && !std::isnan(run.flags.head_learning_rate);
  cli::require(tells_head || !is_given, name,
               "is for a model that says which of its parameters are its head");
  if (chosen.empty()) return;
  if (tells_head) {
    if (run.checkpoints) run.checkpoints->checkpointer().add_setting(name, chosen);
    return;
  }
  run.flags.head_learning_rate = std::numeric_limits<double>::quiet_NaN();
  for (train::Pairs* values : {&run.chosen, &run.results.flags}) {
    std::erase_if(*values, [&](const auto& value) { return value.first == name; });
  }
  program.log.info("All parameters have --learning-rate " +
                   cli::flag_text(run.flags.learning_rate) +
                   ", because the model does not say which of them are its head");
}

}  // namespace seqtrain::experiment
