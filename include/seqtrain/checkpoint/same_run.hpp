#pragma once

#include <string>
#include <string_view>

#include <seqtrain/checkpoint/checkpoint.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::checkpoint {

namespace detail {

/// Returns the value of a name, or "unset" if it is missing or empty.
inline std::string value_of(const train::Pairs& pairs, std::string_view name) {
  const std::string value = train::value_in(pairs, name);
  return value.empty() ? "unset" : value;
}

/// Appends `seed (1 there, 2 here)` for each setting that differs.
inline void append_differences(std::string& text, const train::Pairs& there,
                               const train::Pairs& here) {
  const auto compare = [&](const std::string& name) {
    const std::string a = value_of(there, name);
    const std::string b = value_of(here, name);
    if (a != b) text += (text.empty() ? "" : ", ") + name + " (" + a + " there, " + b + " here)";
  };
  for (const auto& [name, value] : here) compare(name);
  for (const auto& [name, value] : there) {
    if (value_of(here, name) == "unset") compare(name);
  }
}

}  // namespace detail

/// Throws `InputError` unless a fit with this plan can continue the checkpoint: the settings must
/// be equal, and the run must not be shorter than planned.
inline void check_same_run(const Checkpoint& checkpoint, const train::FitPlan& plan,
                           const train::CheckpointOptions& options) {
  const auto& there = checkpoint.run();
  std::string differences;
  detail::append_differences(differences, there.settings, options.settings);
  detail::append_differences(differences, there.fit, plan.settings);
  if (!differences.empty()) {
    throw InputError{"belongs to a run with other settings: " + differences,
                     {.object = checkpoint.where()},
                     "use those settings, or begin a new run, by --resume never"};
  }
  if (plan.steps < there.steps) {
    throw InputError{"belongs to a run of " + std::to_string(there.steps) +
                         " steps, this one has " + std::to_string(plan.steps),
                     {.object = checkpoint.where()},
                     "a resumed run may be longer, not shorter"};
  }
}

/// Returns the run of a fit: the checkpoint's run if "auto" continues it, the run `named`, at the
/// same length, else a new run, whose lineage names the checkpoint. So all checkpoints of one run
/// and step have the same bits. `found` may be null.
inline RunDescription describe_run(const Checkpoint* found, const std::string& named,
                                   const train::FitPlan& plan,
                                   const train::CheckpointOptions& options) {
  const bool same = options.resume == "auto" && found && found->run().id == named &&
                    found->run().steps == plan.steps;
  RunDescription run{.id = same ? named : options.make_id(),
                     .steps = plan.steps,
                     .settings = options.settings,
                     .fit = plan.settings,
                     .versions = options.versions};
  if (!found) return run;
  const auto& before = found->run();
  run.lineage = before.lineage;
  if (same) return run;
  run.lineage.push_back(
      {.run = before.id, .step = found->state().position.step, .steps = before.steps});
  return run;
}

}  // namespace seqtrain::checkpoint
