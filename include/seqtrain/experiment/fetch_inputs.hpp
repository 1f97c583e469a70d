#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/hub/fetch_dataset.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/run/model_card.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/storage/from_hub.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/place.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

/// A directory and a config in it, as `--dataset` names them.
struct DatasetDirectory {
  std::string path;
  std::string config = {};
};

/// Returns the directory of `dir` or `dir:config`, or nothing if the name is one on the hub. Throws
/// `InputError` if the name has the form of a directory that does not exist.
inline std::optional<DatasetDirectory> dataset_directory(const std::string& place) {
  std::error_code ignored;
  DatasetDirectory found{.path = place};
  if (std::filesystem::is_directory(place, ignored)) return found;
  if (const auto colon = place.rfind(':'); colon != place.npos) {
    found = {.path = place.substr(0, colon), .config = place.substr(colon + 1)};
  }
  if (!storage::is_meant_here(found.path)) return {};
  storage::demand_directory(found.path, "data set");
  return found;
}

/// Returns the files of a split as one text, separated by commas.
inline std::string joined_files(const std::vector<std::filesystem::path>& files) {
  if (files.size() == 1) return files.front().string();
  std::string place;
  for (const auto& file : files) {
    if (file.string().find_first_of(",*") != std::string::npos) {
      throw InputError{"cannot be part of a split of several files: its name has a comma or a star",
                       {.object = file.string()},
                       "name another place by HF_HUB_CACHE, or rename a local file"};
    }
    place += (place.empty() ? "" : ",") + file.string();
  }
  return place;
}

/// Chooses the splits that are not given, and returns all that are needed.
inline std::vector<std::string> choose_splits(cli::TrainFlags& flags,
                                              const hub::DatasetSplits& splits,
                                              const hub::KnownDataset& known) {
  if (flags.train_split.empty()) flags.train_split = "train";
  std::vector<std::string> needed{flags.train_split};
  if (flags.dev_fraction == 0) {
    if (flags.dev_split.empty() && !splits.has(known.dev_split)) {
      throw InputError{"has no split '" + std::string{known.dev_split} + "' to evaluate on",
                       {.object = splits.dataset},
                       "there are: " + splits.listed() +
                           "; name one with --dev-split, or hold out --dev-fraction 0.1"};
    }
    if (flags.dev_split.empty()) flags.dev_split = known.dev_split;
    needed.push_back(flags.dev_split);
  }
  if (!flags.test_split.empty()) needed.push_back(flags.test_split);
  return needed;
}

/// Fetches the splits that `--dataset` names and sets the training, dev and test file to their
/// local files. Also sets the splits that are not given, the problem type of a known data set, and
/// the commit of a data set on the hub. Throws `InputError` if there is no such data set, config or
/// split, or if the account may not read it.
inline void use_dataset(cli::TrainFlags& flags, const log::Log& log) {
  if (flags.dataset.empty()) return;
  const auto directory = dataset_directory(flags.dataset);
  hub::FetchedDataset found;
  if (directory) {
    const hub::KnownDataset unknown = hub::known_dataset({}, {});
    found = hub::dataset_in(directory->path, directory->config, [&](const auto& splits) {
      return choose_splits(flags, splits, unknown);
    });
  } else {
    auto name = hub::DatasetName::parse(flags.dataset);
    const auto known = hub::known_dataset(name.repository.id, name.config);
    const auto choose = [&](const auto& splits) { return choose_splits(flags, splits, known); };
    found = storage::from_hub(log, [&](const auto& client, const auto& cache, const auto& options) {
      return hub::fetch_dataset(client, cache, name, choose, cache_directory() / "hub", options);
    });
    if (flags.problem_type.empty() && !flags.scored_by_loss) {
      flags.problem_type = known.problem_type;
    }
    name.repository.revision = found.commit;
    flags.dataset = name.text();
  }
  const auto place = [&](const std::string& split) {
    return split.empty() ? std::string{} : joined_files(found.files.at(split));
  };
  flags.train_file = place(flags.train_split);
  flags.dev_file = place(flags.dev_split);
  flags.test_file = place(flags.test_split);
}

/// Returns the values of all flags, with the commit and the splits that `use_dataset` has found, so
/// that a run with these values reads the same examples.
inline train::Pairs with_dataset(train::Pairs values, const cli::TrainFlags& flags) {
  if (flags.dataset.empty()) return values;
  for (auto& [name, value] : values) {
    if (name == "dataset") value = flags.dataset;
    if (name == "train-split") value = flags.train_split;
    if (name == "dev-split") value = flags.dev_split;
    if (name == "test-split") value = flags.test_split;
  }
  return values;
}

/// Returns the facts about the data set for a model card, or nothing if it has no name on the hub.
/// Call it after `use_dataset`.
inline std::optional<run::CardDataset> card_dataset(const cli::TrainFlags& flags) {
  const auto at = flags.dataset.rfind('@');
  if (at == std::string::npos || !hub::is_commit(flags.dataset.substr(at + 1))) return {};
  const auto name = hub::DatasetName::parse(flags.dataset);
  const auto& dev = flags.dev_split.empty() ? flags.train_split : flags.dev_split;
  return run::CardDataset{.id = name.repository.id,
                          .config = name.config,
                          .revision = name.repository.revision,
                          .dev_split = dev,
                          .test_split = flags.test_split};
}

/// Returns the flags with local paths in place of the addresses of examples and of their name on
/// the hub.
inline cli::TrainFlags with_local_examples(cli::TrainFlags flags,
                                           const storage::Options& storages) {
  storage::demand_local(flags.output_dir, "--output-dir", "see --job-dir");
  for (const auto& place : {flags.job_dir, flags.checkpoint_dir, flags.logging_dir}) {
    (void)storage::is_local(place, storages);  // it may be in no known storage
  }
  for (std::string* place : {&flags.train_file, &flags.dev_file, &flags.test_file}) {
    *place = storage::fetch_all(*place, storages);
  }
  use_dataset(flags, storages.log);
  return flags;
}

/// Returns the flags with local paths in place of the inputs' addresses and names on the hub.
/// Calls `check` with the flags when the examples are here, before the model is fetched.
inline cli::TrainFlags with_local_inputs(
    cli::TrainFlags flags, const storage::Options& storages,
    const std::function<void(const cli::TrainFlags&)>& check = {}) {
  flags = with_local_examples(std::move(flags), storages);
  if (check) check(flags);
  flags.model = storage::find_model(flags.model, storages).directory.string();
  return flags;
}

}  // namespace seqtrain::experiment
