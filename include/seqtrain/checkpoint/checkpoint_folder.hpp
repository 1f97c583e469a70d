#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/checkpoint/checkpoint.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/train/checkpoint_name.hpp>

namespace seqtrain::checkpoint {

/// The checkpoints of one run in a store: the folders `<run>/checkpoint-<step>`, which
/// train/checkpoint_name.hpp names. Nothing outside the run's folder is read, changed or removed.
template <Store S>
class CheckpointFolder {
 public:
  CheckpointFolder(S& store, std::string run) : store_{&store}, run_{std::move(run)} {}

  /// Returns the key of a step's folder.
  [[nodiscard]] std::string at(std::int64_t step) const {
    return run_ + "/" + train::checkpoint_name(step);
  }
  /// Returns the key of a file in a step's folder.
  [[nodiscard]] std::string at(std::int64_t step, std::string_view file) const {
    return at(step) + "/" + std::string{file};
  }

  /// Returns the steps whose manifest is there, in ascending order.
  [[nodiscard]] std::vector<std::int64_t> steps() const {
    const std::string last = "/" + std::string{sink::Manifest::file_name};
    std::vector<std::int64_t> found;
    for (const std::string& key : store_->list(run_)) {
      if (!key.ends_with(last)) continue;
      const auto step = step_of(key);
      if (step && key == at(*step) + last) found.push_back(*step);
    }
    std::ranges::sort(found);
    return found;
  }

  /// Removes a checkpoint, the manifest first.
  void remove(std::int64_t step) const {
    store_->remove(at(step, sink::Manifest::file_name));
    for (const std::string& key : all_keys(at(step))) store_->remove(key);
    if constexpr (has_leftovers) store_->remove(at(step));  // an empty folder
  }

  /// Removes every checkpoint folder of the run, complete or not, except those of the newest `keep`
  /// checkpoints up to `step` and of the step `spared`.
  void prune(std::int64_t step, std::int64_t keep, std::optional<std::int64_t> spared = {}) const {
    auto kept = steps();
    kept.erase(std::ranges::upper_bound(kept, step), kept.end());
    kept.erase(kept.begin(), kept.end() - std::min<std::ptrdiff_t>(keep, std::ssize(kept)));
    std::set<std::int64_t> gone;
    for (const std::string& key : all_keys(run_)) {
      const auto found = step_of(key);
      if (!found || found == spared || std::ranges::count(kept, *found) > 0) continue;
      gone.insert(*found);
    }
    for (const std::int64_t old : gone) remove(old);
  }

 private:
  static constexpr bool has_leftovers = requires(S & store, std::string_view folder) {
    store.leftovers(folder);
  };

  /// Returns the keys inside a folder, including temporary files and empty folders.
  [[nodiscard]] std::vector<std::string> all_keys(const std::string& folder) const {
    auto keys = store_->list(folder);
    if constexpr (has_leftovers) {
      const auto left = store_->leftovers(folder);
      keys.insert(keys.end(), left.begin(), left.end());
    }
    return keys;
  }

  /// Returns the step of the checkpoint folder that a key is in, if it is in one.
  [[nodiscard]] std::optional<std::int64_t> step_of(std::string_view key) const {
    if (key.size() <= run_.size()) return {};
    key.remove_prefix(run_.size() + 1);
    return train::checkpoint_step(key.substr(0, key.find('/')));
  }

  S* store_;
  std::string run_;
};

/// Returns the run that has complete checkpoints in a store, or an empty string if none has. Throws
/// `InputError` if several have.
template <Store S>
[[nodiscard]] std::string only_run(S& store) {
  std::map<std::string, std::int64_t, std::less<>> newest;  // the newest step of each run
  for (const std::string& key : store.list("")) {
    const auto parts = split(key, '/');
    if (parts.size() != 3 || parts[2] != sink::Manifest::file_name) continue;
    const auto step = train::checkpoint_step(parts[1]);
    if (!step) continue;
    auto& known = newest[std::string{parts[0]}];
    known = std::max(known, *step);
  }
  if (newest.size() <= 1) return newest.empty() ? std::string{} : newest.begin()->first;
  std::string advice = "begin anew by --resume never, or continue one";
  for (const auto& [run, step] : newest) {
    advice += (run == newest.begin()->first ? ": --resume " : ", --resume ") + store.name() + "/" +
              CheckpointFolder{store, run}.at(step);
  }
  throw InputError{"holds checkpoints of several runs, but no run.json that names the last",
                   {.object = store.name()},
                   advice};
}

/// Finds checkpoints of a run in a local directory and, unless it is null, in a remote store. A
/// remote checkpoint is copied into the directory and read there.
template <class Directory, Store Remote>
class CheckpointSearch {
 public:
  using Log = std::function<void(const std::string&)>;

  CheckpointSearch(Directory& local, Remote* remote, Log log)
      : local_{&local}, remote_{remote}, log_{std::move(log)} {}

  /// Returns the checkpoint that `resume` of `train::CheckpointOptions` asks for, or null. An empty
  /// `run` has none.
  std::shared_ptr<const Checkpoint> find(const std::string& resume, const std::string& run) const {
    if (resume == "auto") return run.empty() ? nullptr : newest(run);
    return resume == "never" ? nullptr : at(resume);
  }

  /// Returns the newest complete checkpoint of a run, or null. Logs each newer one that is not
  /// complete.
  std::shared_ptr<const Checkpoint> newest(const std::string& run) const {
    const auto here = steps(CheckpointFolder{*local_, run});
    const auto there = remote_ ? steps(CheckpointFolder{*remote_, run}) : std::set<std::int64_t>{};
    auto all = here;
    all.insert(there.begin(), there.end());
    for (auto step = all.rbegin(); step != all.rend(); ++step) {
      std::shared_ptr<const Checkpoint> found;
      if (here.contains(*step)) found = read(run, *step);
      if (!found && there.contains(*step)) found = fetch(run, *step);
      if (found) return found;
    }
    return {};
  }

  /// Returns the checkpoint in a directory that the user has named. Throws `InputError` if it is
  /// not complete.
  std::shared_ptr<const Checkpoint> at(const std::filesystem::path& path) const {
    return std::make_shared<Checkpoint>(
        path.string(), [&](const std::string& name) { return local_->files().read(path / name); });
  }

  /// Returns a local checkpoint. If it is missing or broken, logs that and returns null.
  std::shared_ptr<const Checkpoint> read(const std::string& run, std::int64_t step) const {
    const CheckpointFolder folder{*local_, run};
    try {
      return std::make_shared<Checkpoint>(
          local_->name() + "/" + folder.at(step),
          [&](const std::string& name) { return local_->map(folder.at(step, name)); });
    } catch (const InputError& error) {
      tell(step, error.what());
      return {};
    }
  }

 private:
  template <class S>
  static std::set<std::int64_t> steps(const CheckpointFolder<S>& folder) {
    const auto found = folder.steps();
    return {found.begin(), found.end()};
  }

  /// Copies a remote checkpoint into the local directory and reads it.
  std::shared_ptr<const Checkpoint> fetch(const std::string& run, std::int64_t step) const {
    const CheckpointFolder there{*remote_, run};
    const CheckpointFolder here{*local_, run};
    const std::string last{sink::Manifest::file_name};
    const auto text = remote_->get(there.at(step, last));
    if (!text) return {};
    try {
      here.remove(step);
      const auto manifest = sink::Manifest::parse(text->bytes, there.at(step, last));
      for (const auto& entry : manifest.entries()) {
        const auto file = local_->writable_path(here.at(step, entry.name));
        if (remote_->get_file(there.at(step, entry.name), file)) continue;
        throw InputError{"is missing", {.object = there.at(step, entry.name)}};
      }
    } catch (const InputError& error) {
      tell(step, error.what());
      return {};
    }
    local_->put(here.at(step, last), std::as_bytes(std::span{text->bytes}));
    return read(run, step);
  }

  void tell(std::int64_t step, const std::string& problem) const {
    if (log_) log_(train::checkpoint_name(step) + " is not used: " + problem);
  }

  Directory* local_;
  Remote* remote_;
  Log log_;
};

/// Writes a checkpoint, unless a complete one of this run and step exists: its bits would be equal.
template <class Directory>
void write_unless_complete(Directory& local, const train::FitView& fit, const RunDescription& run) {
  const std::int64_t step = fit.state.position.step;
  const CheckpointFolder folder{local, run.id};
  if (local.map(folder.at(step, sink::Manifest::file_name))) {
    const CheckpointSearch<Directory, Directory> search{local, nullptr, {}};
    if (search.read(run.id, step)) return;
    folder.remove(step);
  }
  write_checkpoint(local, folder.at(step), fit, run);
}

}  // namespace seqtrain::checkpoint
