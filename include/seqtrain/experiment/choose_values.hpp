#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <seqtrain/cli/flags/chosen_values.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/model/load_report.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

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
  const model::LoadReport& report = run.model.load_report();
  return {.examples = train.size(),
          .hidden_size = run.model.config().hidden_size,
          .step_examples = of_batch * flags.gradient_accumulation_steps * run.replicas,
          .trains_few = flags.freeze_encoder || flags.lora_rank > 0,
          .has_new_head = !report.fresh.empty() || !report.resized.empty(),
          .labels = run.labels.size()};
}

/// Chooses the number of epochs and the learning rates of a run if no flag gives them, or takes
/// those of a trial, and logs and records them. A resumed run must have the same learning rates.
inline void choose_values(const Program& program, Prepared& run, const data::EncodedSet& train) {
  run.chosen = cli::choose_values(run.flags, size_of(run, train));
  if (run.chosen.empty() || !program.processes.is_first()) return;
  std::vector<std::string> parts;
  for (const auto& [name, value] : run.chosen) {
    train::replace(run.results.flags, {name, value});
    if (name.ends_with("learning-rate")) run.checkpoints->checkpointer().add_setting(name, value);
    parts.push_back("--" + name + ' ' + value);
  }
  program.log.info("Chosen for " + std::to_string(train.size()) +
                   " training examples: " + joined(parts, " and "));
}

}  // namespace seqtrain::experiment
