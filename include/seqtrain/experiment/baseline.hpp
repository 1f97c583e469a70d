#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <seqtrain/baseline/scores.hpp>
#include <seqtrain/core/memory.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/experiment/simple_models.hpp>
#include <seqtrain/experiment/teacher.hpp>

namespace seqtrain::experiment {

/// Trains simple models on a run's training examples and returns their figures on its dev examples.
/// Returns nothing with `--no-baseline`, if no training example has a label, and if the model is
/// scored by its loss alone. Throws what
/// `train_simple_models` throws.
[[nodiscard]] inline std::optional<baseline::Scores> judge_baseline(
    const Program& program, const Prepared& run, const Examples& examples,
    std::vector<double> class_weights, std::stop_token stop) {
  const cli::TrainFlags& flags = run.flags;
  if (flags.no_baseline || flags.scored_by_loss) return {};
  const TextsOfSet train{.set = examples.train.set,
                         .file = flags.train_file,
                         .read = train_read_options(flags),
                         .rows = examples.train_rows};
  const TextsOfSet dev{.set = examples.dev.set,
                       .file = examples.dev_file,
                       .read = examples.dev_read,
                       .rows = examples.dev_rows};
  auto made = train_simple_models(train, dev, run.labels,
                                  {.class_weights = std::move(class_weights),
                                   .threads = static_cast<std::size_t>(flags.threads),
                                   .stop = std::move(stop)});
  if (!made) return {};
  auto scores = std::move(made->scores);
  program.log.info(describe(scores));
  made.reset();
  return_freed_memory();  // training takes it, so the baseline adds nothing to the run's peak
  return scores;
}

}  // namespace seqtrain::experiment
