#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/train/checkpoint.hpp>
#include <seqtrain/train/checkpoint_folder.hpp>

namespace seqtrain::train {

/// Finds checkpoints of a run in a local directory and, unless it is null, in a remote store. A
/// remote checkpoint is copied into the directory and read there.
template <class Directory, Store Remote>
class CheckpointSearch {
 public:
  using Log = std::function<void(const std::string&)>;

  CheckpointSearch(Directory& local, Remote* remote, Log log)
      : local_{&local}, remote_{remote}, log_{std::move(log)} {}

  /// Returns the newest complete checkpoint, or null. Logs each newer one that is not complete. An
  /// empty `run` stands for the checkpoints that seqtrain 0.1 wrote.
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

  /// Copies a remote checkpoint into the local directory and reads it. A checkpoint of seqtrain 0.1
  /// goes into a folder of its own, so that it replaces no file that 0.1 left.
  std::shared_ptr<const Checkpoint> fetch(const std::string& run, std::int64_t step) const {
    const std::string copies = run.empty() ? "seqtrain-0.1" : run;
    const CheckpointFolder there{*remote_, run};
    const CheckpointFolder here{*local_, copies};
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
    return read(copies, step);
  }

  void tell(std::int64_t step, const std::string& problem) const {
    if (log_) log_(checkpoint_name(step) + " is not used: " + problem);
  }

  Directory* local_;
  Remote* remote_;
  Log log_;
};

}  // namespace seqtrain::train
