#pragma once

#include <filesystem>
#include <string>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

/// Returns the flags of a program of several runs. Throws `InputError` with `advice` if they name
/// no training file.
inline const cli::TrainFlags& demand_train_file(const cli::TrainFlags& flags,
                                                const std::string& advice) {
  if (!flags.train_file.empty() || !flags.dataset.empty()) return flags;
  throw InputError{"is needed", {.object = "--train-file"}, advice};
}

/// Throws the error for a file of several runs, such as tune.json, whose directory is neither to be
/// continued nor to be replaced. `what` is as in `check_settings`.
[[noreturn]] inline void refuse_to_replace(const std::filesystem::path& file,
                                           const std::string& what) {
  throw InputError{"already holds " + what + ": " + file.filename().string() + " is there",
                   {.object = file.parent_path().string()},
                   "name another directory, or pass --overwrite to replace it or --resume auto to "
                   "continue it"};
}

/// Throws `InputError` unless `settings` are those in a file. `what`, such as "a tuning", names
/// what the file belongs to.
inline void check_settings(const std::filesystem::path& file, const train::Pairs& settings,
                           const std::string& what) {
  const auto document = json::Document::load(file);
  const auto had = train::pairs_in(document.root(), "settings");
  for (const auto& [name, value] : settings) {
    if (train::value_in(had, name) == value) continue;
    throw InputError{"belongs to " + what + " with another " + name,
                     {.object = file.string()},
                     "name another --output-dir, or pass --overwrite without --resume"};
  }
}

}  // namespace seqtrain::experiment
