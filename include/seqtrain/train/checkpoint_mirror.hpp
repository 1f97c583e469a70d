#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/train/checkpoint_directory.hpp>

namespace seqtrain::train {

/// A second home of checkpoints that outlives the machine: a bucket. All but `put` and `remove` are
/// called by the thread that trains, before it begins.
class CheckpointStore {
 public:
  CheckpointStore() = default;
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;
  virtual ~CheckpointStore() = default;

  /// Where it is, for people.
  [[nodiscard]] virtual std::string name() const = 0;
  /// The steps of the checkpoints with a manifest, in ascending order.
  virtual std::vector<std::int64_t> steps() = 0;
  /// Fills `directory`, which is empty, with that step's checkpoint.
  virtual void fetch(std::int64_t step, const std::filesystem::path& directory) = 0;
  /// Puts a checkpoint's files, the manifest last.
  virtual void put(const std::filesystem::path& checkpoint, std::int64_t step) = 0;
  /// Removes a checkpoint, the manifest first. One that is not there is no error.
  virtual void remove(std::int64_t step) = 0;
};

/// Copies checkpoints into a store on a thread of its own, the newest first: while one is on its
/// way, or the store cannot be reached, those in between are left out.
class CheckpointMirror {
 public:
  using Log = std::function<void(std::string_view)>;

  struct Options {
    std::int64_t keep = 2;                  ///< checkpoints that the store has
    std::chrono::milliseconds pause{5000};  ///< from a failure to the next attempt
    Log log = {};
  };

  CheckpointMirror(std::unique_ptr<CheckpointStore> store, Options options)
      : store_{std::move(store)},
        options_{std::move(options)},
        worker_{[this](const std::stop_token& stop) { work(stop); }} {}

  [[nodiscard]] CheckpointStore& store() { return *store_; }

  /// The checkpoint of that step is in `directory` and stays until another is asked for.
  void offer(std::int64_t step, std::filesystem::path directory) {
    const std::lock_guard lock{mutex_};
    waiting_ = Offer{step, std::move(directory)};
    changed_.notify_all();
  }

  /// The step that is on its way: its directory is needed.
  [[nodiscard]] std::optional<std::int64_t> under_way() const {
    const std::lock_guard lock{mutex_};
    return under_way_;
  }

  /// Waits until the newest checkpoint is in the store. If that fails once more, throws `Error`
  /// with the reason.
  void finish() {
    std::unique_lock lock{mutex_};
    const auto failures = failures_;
    const bool failing = !problem_.empty();
    wake_ = true;
    changed_.notify_all();
    // An attempt that has begun may be one that was bound to fail: the next one counts.
    const std::int64_t allowed = failing && under_way_ ? 1 : 0;
    changed_.wait(lock, [&] { return is_done() || failures_ > failures + allowed; });
    if (!is_done()) throw Error{problem_, {.object = store_->name()}};
  }

 private:
  struct Offer {
    std::int64_t step = 0;
    std::filesystem::path directory;
  };

  [[nodiscard]] bool is_done() const { return !waiting_ && !under_way_; }

  void work(const std::stop_token& stop) {
    const std::stop_callback wake{stop, [this] {
                                    const std::lock_guard lock{mutex_};
                                    changed_.notify_all();
                                  }};
    std::unique_lock lock{mutex_};
    while (true) {
      changed_.wait(lock, [&] { return waiting_ || stop.stop_requested(); });
      if (stop.stop_requested()) return;
      const Offer offer = *std::exchange(waiting_, {});
      under_way_ = offer.step;
      lock.unlock();
      const std::string problem = copy(offer);
      lock.lock();
      under_way_.reset();
      note(offer, problem);
      changed_.notify_all();
      if (problem.empty()) continue;
      changed_.wait_for(lock, options_.pause, [&] { return wake_ || stop.stop_requested(); });
      wake_ = false;
    }
  }

  /// What went wrong; empty if nothing did.
  std::string copy(const Offer& offer) {
    try {
      store_->put(offer.directory, offer.step);
      auto all = store_->steps();
      const auto keep = static_cast<std::size_t>(options_.keep);
      for (std::size_t i = 0; i + keep < all.size(); ++i) store_->remove(all[i]);
      return {};
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  void note(const Offer& offer, const std::string& problem) {
    if (!problem.empty() && !waiting_) waiting_ = offer;
    if (!problem.empty()) ++failures_;
    if (options_.log && !problem.empty() && problem_.empty()) {
      options_.log(checkpoint_name(offer.step) + " is on this machine only so far: " + problem);
    }
    if (options_.log && problem.empty() && !problem_.empty()) {
      options_.log(checkpoint_name(offer.step) + " is in " + store_->name() + " now");
    }
    problem_ = problem;
  }

  std::unique_ptr<CheckpointStore> store_;
  Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Offer> waiting_;
  std::optional<std::int64_t> under_way_;
  std::string problem_;  // of the last attempt
  std::int64_t failures_ = 0;
  bool wake_ = false;    // the next attempt is to be made at once
  std::jthread worker_;  // last: it uses the others
};

}  // namespace seqtrain::train
