#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/checkpoint/checkpoint.hpp>
#include <seqtrain/checkpoint/checkpoint_folder.hpp>
#include <seqtrain/checkpoint/messages.hpp>
#include <seqtrain/checkpoint/run_record.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/background.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::checkpoint {

/// Copies a checkpoint of a run from a local directory into a store, the manifest last. The copy is
/// durable on return. Throws `Error`.
template <class Directory, Store S>
void upload_checkpoint(Directory& local, S& store, const std::string& run, std::int64_t step) {
  const CheckpointFolder folder{local, run};
  const std::string last{sink::Manifest::file_name};
  const auto text = local.map(folder.at(step, last));
  if (!text) throw Error{"is missing", {.object = local.path_of(folder.at(step, last)).string()}};
  const auto put = [&](const std::string& name) {
    const std::string key = folder.at(step, name);
    store.put_file(key, local.path_of(key));
  };
  const auto manifest = sink::Manifest::parse(text->text(), last);
  for (const auto& entry : manifest.entries()) put(entry.name);
  store.flush();
  put(last);
  store.flush();
}

/// Copies a checkpoint of another run into the run `run`, durably, so that a restart finds it.
/// `remote` may be null. Returns the checkpoint's step.
template <class Directory, Store S>
std::int64_t adopt_checkpoint(const Checkpoint& checkpoint, Directory& local, S* remote,
                              const RunDescription& run) {
  const std::int64_t step = checkpoint.state().position.step;
  write_checkpoint(local, CheckpointFolder{local, run.id}.at(step), checkpoint, run);
  if (remote != nullptr) upload_checkpoint(local, *remote, run.id, step);
  return step;
}

/// Copies a run's checkpoints from a local directory into a remote store in the background. Only
/// the newest checkpoint waits; an older one that is still waiting is dropped.
template <class Directory, Store S, class Worker = Background>
class CheckpointUpload {
 public:
  struct Options {
    std::string run = {};
    std::int64_t keep = 2;  ///< newest checkpoints that are kept in the store
    /// The time until a failed copy is tried again.
    std::chrono::milliseconds pause = std::chrono::seconds{5};
    std::function<void(const train::Notice&)> log = {};  ///< called on the worker's thread
  };

  /// `record` belongs to the store and names the run. `args` construct the worker.
  template <class... Args>
  CheckpointUpload(Directory& local, S& store, RunRecord<S> record, Options options, Args&&... args)
      : remote_{store, options.run},
        directory_{&local},
        store_{&store},
        record_{std::move(record)},
        options_{std::move(options)},
        worker_{std::forward<Args>(args)...} {}
  /// Cancels an upload that is not done.
  ~CheckpointUpload() {
    worker_.stop();
    if constexpr (requires { store_->cancel(); }) {
      if (worker_.busy()) store_->cancel();
    }
  }

  /// Uploads a step's local files, which must stay until a later step is offered.
  void offer(std::int64_t step) {
    if (set_waiting(step)) worker_.start([this] { work(); });
  }

  /// Returns the step whose local files are being uploaded, or nothing. Those files must not be
  /// removed.
  [[nodiscard]] std::optional<std::int64_t> under_way() const {
    const std::lock_guard lock{mutex_};
    return under_way_;
  }

  /// Tells whether another program has taken the store over, so that nothing more is uploaded.
  [[nodiscard]] bool replaced() const {
    const std::lock_guard lock{mutex_};
    return replaced_;
  }

  /// Waits until the newest checkpoint is in the store, after one more try if the last failed.
  /// Throws `Error` with the reason if that fails too.
  void finish() {
    if (set_finishing()) worker_.start([this] { work(); });
    worker_.hurry();
    worker_.wait();
    const std::lock_guard lock{mutex_};
    finishing_ = false;
    if (waiting_) throw Error{problem_, {.object = store_->name()}};
  }

 private:
  /// Marks a step as waiting. Returns whether the worker must be started.
  bool set_waiting(std::int64_t step) {
    const std::lock_guard lock{mutex_};
    waiting_ = step;
    return !std::exchange(running_, true);
  }
  /// Allows one last try. Returns whether the worker must be started.
  bool set_finishing() {
    const std::lock_guard lock{mutex_};
    finishing_ = true;
    return waiting_ && !std::exchange(running_, true);
  }

  void work() {
    while (const auto step = take()) {
      const bool last = is_finishing();
      const std::string problem = copy(*step);
      note(*step, problem);
      if (problem.empty() || (!last && is_finishing())) continue;
      if (last || !worker_.pause(options_.pause)) return end();
    }
  }

  std::optional<std::int64_t> take() {
    const std::lock_guard lock{mutex_};
    under_way_ = std::exchange(waiting_, {});
    if (!under_way_) running_ = false;
    return under_way_;
  }

  void end() {
    const std::lock_guard lock{mutex_};
    running_ = false;
  }

  [[nodiscard]] bool is_finishing() const {
    const std::lock_guard lock{mutex_};
    return finishing_;
  }

  /// Uploads a checkpoint. Returns the reason of a failure, or an empty string.
  std::string copy(std::int64_t step) {
    try {
      if (replaced()) return {};
      upload_checkpoint(*directory_, *store_, options_.run, step);
      if (!record_.renew(step)) {
        const std::lock_guard lock{mutex_};
        replaced_ = true;
        return {};
      }
      if (record_.was_removed() && options_.log) {
        options_.log({.text = removed_record(store_->name()), .warning = true});
      }
      remote_.prune(step, options_.keep);
      return {};
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  void note(std::int64_t step, const std::string& problem) {
    const std::string before = set_problem(step, problem);
    if (!options_.log || problem.empty() == before.empty()) return;
    const std::string text = train::checkpoint_name(step) +
                             (problem.empty() ? " is in " + store_->name() + " now"
                                              : " is on this machine only so far: " + problem);
    options_.log({.text = text, .warning = !problem.empty()});
  }

  std::string set_problem(std::int64_t step, const std::string& problem) {
    const std::lock_guard lock{mutex_};
    under_way_.reset();
    if (!problem.empty() && !waiting_) waiting_ = step;
    return std::exchange(problem_, problem);
  }

  CheckpointFolder<S> remote_;
  Directory* directory_;
  S* store_;
  RunRecord<S> record_;
  Options options_;
  mutable std::mutex mutex_;  // never held during a call of the store or the disk
  std::optional<std::int64_t> waiting_;
  std::optional<std::int64_t> under_way_;
  std::string problem_;  // why the last attempt failed
  bool running_ = false;
  bool finishing_ = false;
  bool replaced_ = false;
  Worker worker_;  // last: its task uses the others
};

}  // namespace seqtrain::checkpoint
