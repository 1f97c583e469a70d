#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/checkpoint/checkpoint.hpp>
#include <seqtrain/checkpoint/checkpoint_folder.hpp>
#include <seqtrain/checkpoint/checkpoint_upload.hpp>
#include <seqtrain/checkpoint/messages.hpp>
#include <seqtrain/checkpoint/run_record.hpp>
#include <seqtrain/checkpoint/same_run.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/background.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::checkpoint {

/// A `Checkpointer` that saves a fit in a store and continues it from there. The store holds
///
///     run.json                    the run that resume "auto" continues
///     <run id>/checkpoint-<step>/ the checkpoints of a run
///
/// When a checkpoint is due, the tensors are copied between two steps and a background task writes
/// the copy while training goes on. The last checkpoint needs no copy. A checkpoint reaches a local
/// directory first; with a remote store another task uploads it from there. If a checkpoint cannot
/// be written, that is logged, the older ones stay and training goes on. Two programs on a machine
/// cannot use one local directory, and a program whose place another program takes over stops with
/// an `Error`.
template <class Directory, Store Remote, class Worker = Background>
class BasicCheckpoints {
 public:
  /// Keeps checkpoints in `local` and, unless it is null, in `remote`, which must outlive this.
  /// `args` construct the workers. Throws `InputError` on options out of range.
  template <class... Args>
  BasicCheckpoints(Directory local, Remote* remote, train::CheckpointOptions options, Args... args)
      : options_{std::move(options)},
        local_{std::move(local)},
        remote_{remote},
        make_upload_{[this, args...](RunRecord<Remote> record) {
          typename Upload::Options upload{.run = run_.id, .keep = options_.keep};
          upload.log = [this](const train::Notice& notice) { messages_.add(notice); };
          return std::make_unique<Upload>(local_, *remote_, std::move(record), std::move(upload),
                                          args...);
        }},
        writer_{args...} {
    options_.validate();
  }

  /// Locks the local directory until this object ends; `restore` does so too. A program that
  /// changes other files of its run calls this first. Throws `InputError` if another process has
  /// locked the directory.
  void lock() {
    if (lock_) return;
    lock_ = local_.try_lock(".lock");
    if (lock_) return;
    throw InputError{"another process keeps its checkpoints here",
                     {.object = local_.name()},
                     "wait for it or name another directory"};
  }

  /// Returns the settings of the checkpoint that `restore` would continue; none if there is no such
  /// checkpoint. A remote checkpoint is copied to the local directory.
  [[nodiscard]] train::Pairs saved_settings() {
    const auto found = remote_ != nullptr ? find(*remote_, RunRecord<Remote>{*remote_}.run(), {})
                                          : find(local_, RunRecord<Directory>{local_}.run(), {});
    return found.checkpoint ? found.checkpoint->run().settings : train::Pairs{};
  }

  /// Adds a setting that a resumed run must have too. Call it before `restore`.
  void add_setting(const std::string& name, const std::string& value) {
    options_.settings.emplace_back(name, value);
  }

  /// Takes the store over and returns the fit to continue, if there is one. Throws `InputError` if
  /// another process has locked the local directory or the checkpoint belongs to a run with other
  /// settings.
  std::optional<train::SavedFit> restore(const train::FitPlan& plan) {
    lock();
    last_time_ = Clock::now();
    last_step_ = 0;
    begun_ = durable_ = -1;
    problem_.clear();
    snapshot_.tensors.clear();
    auto saved = remote_ != nullptr ? begin(*remote_, plan) : begin(local_, plan);
    messages_.pass_on(options_.log);
    if (!saved) return {};
    last_step_ = saved->state().position.step;
    if (saved->run().id == run_.id) {
      local_.make_durable(Folder{local_, run_.id}.at(last_step_));
      begun_ = durable_ = last_step_;
    }
    return train::SavedFit{saved->state(),
                           [saved](std::string_view owner) { return saved->tensors(owner); }};
  }

  /// Saves a fit at one of the moments that `Moment` describes. Throws `Error` if another program
  /// has taken the store over, or if the last checkpoint of a stopped run cannot be made durable.
  void save(train::Moment moment, const train::FitView& fit) {
    messages_.pass_on(options_.log);
    check_owner();
    const std::int64_t step = fit.state.position.step;
    if (moment == train::Moment::step) {
      if (!is_due(step) || writer_.busy()) return;
      begin_checkpoint(step);
      if (!copy(fit)) return;
      return writer_.start(
          [this] { snapshot_.view([this](const train::FitView& copy) { write(copy); }); });
    }
    writer_.wait();
    if (durable_ != step) {
      begin_checkpoint(step);
      write(fit);
    }
    moment == train::Moment::stop ? finish_stop() : finish_end();
    messages_.pass_on(options_.log);
    check_owner();
  }

  /// Returns a message about what would be lost if the program ended now. Any thread may call it.
  [[nodiscard]] std::string unfinished() const {
    const std::int64_t begun = begun_;
    const std::int64_t durable = durable_;
    const std::string missing =
        begun > durable ? train::checkpoint_name(begun) + " is not complete yet; " : std::string{};
    return missing + (durable < 0 ? "there is no checkpoint of this run"
                                  : "the newest complete checkpoint is " +
                                        train::checkpoint_name(durable) + " in " + local_.name());
  }

  /// Returns the step of this run's newest checkpoint that is complete on this machine, or -1 if
  /// there is none. Any thread may call it.
  [[nodiscard]] std::int64_t durable() const { return durable_; }

  /// Returns why the newest checkpoint is not where it should be; empty if it is. Call it after
  /// `fit`.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// Removes the checkpoints of that run from both stores. Call it after `fit`.
  void remove_run() {
    Folder{local_, run_.id}.prune(0, 0);
    if (remote_ != nullptr) CheckpointFolder<Remote>{*remote_, run_.id}.prune(0, 0);
  }

  /// Returns the run that this program has begun or continues.
  [[nodiscard]] const RunDescription& run() const { return run_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Upload = CheckpointUpload<Directory, Remote, Worker>;
  using Folder = CheckpointFolder<Directory>;
  using Search = CheckpointSearch<Directory, Remote>;

  /// A checkpoint, or null, and the run that resume "auto" continues.
  struct Found {
    std::shared_ptr<const Checkpoint> checkpoint;
    std::string run;
  };

  /// Finds the checkpoint to continue. `run` is the one that the store's record names; if the
  /// record is missing, the only run that has checkpoints there is continued.
  template <class Place>
  Found find(Place& place, const std::string& run,
             const std::function<void(const std::string&)>& warn) {
    const Search search{local_, remote_, warn};
    auto found = search.find(options_.resume, run);
    if (found || !run.empty() || options_.resume != "auto") return {std::move(found), run};
    const std::string other = only_run(place);
    if (other.empty()) return {};
    if (warn) {
      warn(place.name() + "/" + std::string{RunRecord<Directory>::key} + " is missing; the run " +
           other + " has the only checkpoints there and is continued");
    }
    return {search.newest(other), other};
  }

  /// Finds the checkpoint to continue, chooses the run, and takes the store over.
  template <class Place>
  std::shared_ptr<const Checkpoint> begin(Place& place, const train::FitPlan& plan) {
    RunRecord<Place> record{place};
    const auto warn = [this](const std::string& text) { messages_.warn(text); };
    const auto [found, named] = find(place, record.run(), warn);
    messages_.pass_on(options_.log);
    if (found) check_same_run(*found, plan, options_);
    run_ = describe_run(found.get(), named, plan, options_);
    if (found && found->run().steps < plan.steps) {
      messages_.say("The run is extended from " + std::to_string(found->run().steps) + " to " +
                    std::to_string(plan.steps) + " steps");
    }
    if (found && found->run().id != run_.id) {
      begun_ = durable_ = adopt_checkpoint(*found, local_, remote_, run_);
    }
    record.claim(run_.id, options_.make_id());
    if constexpr (std::same_as<Place, Directory>) {
      if (remote_ == nullptr) record_.emplace(std::move(record));
    }
    if constexpr (std::same_as<Place, Remote>) {
      if (remote_ != nullptr) upload_ = make_upload_(std::move(record));
    }
    if (found) messages_.say("Resumed from " + found->where());
    return found;
  }

  [[nodiscard]] bool is_due(std::int64_t step) const {
    if (step <= last_step_) return false;
    const bool by_step = options_.every > 0 && step / options_.every > last_step_ / options_.every;
    const std::chrono::duration<double, std::ratio<60>> since = Clock::now() - last_time_;
    return by_step || (options_.minutes > 0 && since.count() >= options_.minutes);
  }

  void begin_checkpoint(std::int64_t step) {
    begun_ = last_step_ = step;
    last_time_ = Clock::now();
  }

  /// Copies a fit for the writer. Returns false if that fails, for example for want of memory. The
  /// failure is noted and logged. An `Error` is the fit's and is thrown: before its tensors are
  /// read, it finds out whether the last steps were taken.
  bool copy(const train::FitView& fit) {
    try {
      snapshot_.assign(fit);
      return true;
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      fail(fit, "not enough memory for a copy of the parameters");
    } catch (const std::exception& error) {
      fail(fit, error.what());
    }
    snapshot_.tensors.clear();
    messages_.pass_on(options_.log);
    return false;
  }

  void fail(const train::FitView& fit, const std::string& problem) {
    problem_ = problem;
    messages_.warn(train::checkpoint_name(fit.state.position.step) +
                   " could not be saved, older ones stay: " + problem);
  }

  /// Writes a checkpoint. A failure is noted and logged, not thrown.
  void write(const train::FitView& fit) {
    const std::int64_t step = fit.state.position.step;
    try {
      write_unless_complete(local_, fit, run_);
      durable_ = step;
      problem_.clear();
    } catch (const std::exception& error) {
      return fail(fit, error.what());
    }
    try {
      if (upload_) upload_->offer(step);
      if (record_ && !record_->renew(step)) replaced_ = true;
      if (record_ && record_->was_removed()) messages_.warn(removed_record(local_.name()));
      const auto needed = upload_ ? upload_->under_way() : std::nullopt;
      if (!replaced_) Folder{local_, run_.id}.prune(step, options_.keep, needed);
    } catch (const std::exception& error) {
      messages_.warn("old checkpoints could not be removed: " + std::string{error.what()});
    }
  }

  void finish_stop() {
    if (!problem_.empty()) throw Error{"no checkpoint of the last step: " + problem_};
    messages_.say("Saved " + train::checkpoint_name(last_step_) + " in " + local_.name());
    if (upload_) finish_upload();
  }

  void finish_end() {
    try {
      if (upload_) finish_upload();
      if (problem_.empty() && remote_ != nullptr && options_.directory.empty()) {
        Folder{local_, run_.id}.prune(durable_, 0);  // copies in the cache directory
      }
    } catch (const Error& error) {
      problem_ = error.what();
      messages_.warn(error.what());
    }
  }

  void finish_upload() {
    try {
      upload_->finish();
    } catch (const Error& error) {
      throw Error{error.what(), {}, "the checkpoints are in " + local_.name()};
    }
  }

  void check_owner() {
    if (upload_ && upload_->replaced()) replaced_ = true;
    if (!replaced_) return;
    throw Error{"another program has begun or resumed a run here; this one stops",
                {.object = remote_ != nullptr ? std::string{remote_->name()} : local_.name()}};
  }

  train::CheckpointOptions options_;
  Directory local_;
  Remote* remote_;
  std::function<std::unique_ptr<Upload>(RunRecord<Remote>)> make_upload_;
  std::optional<typename Directory::Lock> lock_;
  RunDescription run_;
  std::optional<RunRecord<Directory>> record_;  // if there is no remote store
  Snapshot snapshot_;
  Clock::time_point last_time_ = Clock::now();
  std::int64_t last_step_ = 0;             // step of the last checkpoint or restored fit
  std::atomic<std::int64_t> begun_{-1};    // step of the last checkpoint
  std::atomic<std::int64_t> durable_{-1};  // step of the newest complete local checkpoint
  std::atomic<bool> replaced_{false};
  std::string problem_;  // why the last write failed; only the writer uses it while it is busy
  Messages messages_;
  std::unique_ptr<Upload> upload_;
  Worker writer_;  // last: its task uses the others
};

/// Checkpoints on this machine and optionally in a remote store.
using Checkpoints = BasicCheckpoints<sink::Directory, sink::Any>;

}  // namespace seqtrain::checkpoint
