#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/cli/config_file.hpp>
#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/experiment/run_observers.hpp>
#include <seqtrain/page.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/report/tuning.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/tensor/machine.hpp>

namespace seqtrain::experiment {

/// Returns the labels and the problem type of a run.
[[nodiscard]] inline predict::Task task_of(const Prepared& run) {
  if (run.flags.scored_by_loss) return {.labels = {}, .problem_type = ProblemType::loss_alone};
  return {.labels = run.labels.names(), .problem_type = run.labels.problem_type()};
}

/// Returns the values of flags with those that were chosen.
[[nodiscard]] inline train::Pairs with_chosen(train::Pairs values, const Prepared& run) {
  for (const auto& chosen : run.chosen) {
    std::erase_if(values, [&](const auto& pair) { return pair.first == chosen.first; });
    values.push_back(chosen);
  }
  return values;
}

/// Returns a command that repeats a run. A run of a tuning has its chosen values in it, because it
/// would choose others by itself.
[[nodiscard]] inline std::string command_of(const Program& program, const Prepared& run) {
  std::vector<std::string_view> but(cli::flags_of_one_run.begin(), cli::flags_of_one_run.end());
  if (!run.flags.trial) return program.parser.command(but);
  std::string values;
  for (const auto& [name, value] : run.chosen) {
    but.push_back(name);
    values += " --" + name + " " + cli::shell_word(value);
  }
  return program.parser.command(but) + values;
}

/// Returns what the page of a run shows besides its figures.
[[nodiscard]] inline page::RunPageOptions page_options(const Program& program, const Prepared& run,
                                                       const Examples& examples) {
  const cli::TrainFlags& flags = run.flags;
  const auto task = task_of(run);
  const std::size_t limit = run.tokenizer.windows() ? 0 : examples.train.max_length;
  return {.file = run.directory.report(),
          .log = run.directory.log(),
          .facts = {.name = run.directory.path().filename().string(),
                    .command = command_of(program, run),
                    .model_place = flags.is_part() ? "" : run.directory.model().string(),
                    .changed = with_chosen(program.parser.changed_values(), run),
                    .versions = run.results.versions,
                    .machine = {{"device", tensor::describe(program.device)}},
                    .task = task,
                    .selection = flags.fit_options().selection(),
                    .max_length = static_cast<std::int64_t>(limit),
                    .train = page::set_facts(flags.train_file, examples.train, task),
                    .dev = page::set_facts(examples.dev_file, examples.dev, task),
                    .texts = flags.report_texts,
                    .trials = flags.tuning ? report::trial_rows(*flags.tuning) : report::Rows{}},
          .labels = run.labels,
          .read = examples.dev_read,
          .dev_rows = examples.dev_rows,
          .warn = program.log.warnings()};
}

/// Creates the run's directory and the observers that write there.
[[nodiscard]] inline RunObservers open_run(const Program& program, const Prepared& run,
                                           page::RunPageOptions page,
                                           const run::KeptPredictions& predictions) {
  run.checkpoints->lock(run.directory);  // before `create` removes files of a killed run
  run.directory.create();
  return {{.flags = run.flags,
           .run = run.directory,
           .checkpoints = *run.checkpoints,
           .hyperparameters = with_chosen(program.parser.determining_values(), run),
           .labels = run.labels.names(),
           .on_gpu = program.device.is_cuda(),
           .page = std::move(page),
           .predictions = predictions},
          program.storages};
}

}  // namespace seqtrain::experiment
