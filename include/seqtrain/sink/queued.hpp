#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {

/// Options of `Queued`.
struct QueuedOptions {
  /// The number of objects that may wait; `put` blocks while as many do.
  std::size_t max_entries = 64;
  /// Bytes that may wait in memory; one larger object is allowed.
  std::size_t max_bytes = std::size_t{64} << 20;

  void validate() const {
    if (max_entries > 0 && max_bytes > 0) return;
    throw InputError{"max_entries and max_bytes must be above 0", {.object = "queued sink"}};
  }
};

/// Puts into another sink on a thread of its own, in order, so that training does not wait. After a
/// failure it drops the queue, so that a manifest never appears without its files; `flush` throws
/// the failure, and then the sink works again. A file given to `put_file` must not change until
/// `flush`. The destructor waits for the queue but reports no failure, so call `flush` first.
template <Sink S>
class Queued {
 public:
  explicit Queued(S sink, const QueuedOptions& options = {})
      : state_{std::make_unique<State>(std::move(sink), options)} {}

  void put(std::string_view key, std::span<const std::byte> bytes) {
    check_key(key);
    state_->push({std::string{key}, {bytes.begin(), bytes.end()}, {}});
  }
  void put_file(std::string_view key, const std::filesystem::path& file) {
    check_key(key);
    state_->push({std::string{key}, {}, file});
  }
  void flush() { state_->flush(); }

 private:
  struct Entry {
    std::string key;
    std::vector<std::byte> bytes;
    std::optional<std::filesystem::path> file;  ///< instead of `bytes`
  };

  class State {
   public:
    State(S sink, const QueuedOptions& options) : sink_{std::move(sink)}, options_{options} {
      options.validate();
      worker_ = std::thread{[this] { work(); }};
    }
    ~State() {
      {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
      }
      changed_.notify_all();
      worker_.join();
    }

    void push(Entry entry) {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return has_room(entry) || failure_; });
      if (failure_) return;
      bytes_ += entry.bytes.size();
      entries_.push_back(std::move(entry));
      changed_.notify_all();
    }

    void flush() {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return entries_.empty() && !busy_; });
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      lock.unlock();
      sink_.flush();
    }

   private:
    [[nodiscard]] bool has_room(const Entry& entry) const {
      const bool fits = bytes_ == 0 || bytes_ + entry.bytes.size() <= options_.max_bytes;
      return entries_.size() < options_.max_entries && fits;
    }

    void work() {
      std::unique_lock lock{mutex_};
      while (true) {
        changed_.wait(lock, [&] { return !entries_.empty() || stopping_; });
        if (entries_.empty()) return;
        const auto entry = std::move(entries_.front());
        entries_.pop_front();
        busy_ = true;
        changed_.notify_all();
        lock.unlock();
        auto failure = put(entry);
        lock.lock();
        busy_ = false;
        bytes_ -= entry.bytes.size();
        if (failure) fail(std::move(failure));
        changed_.notify_all();
      }
    }

    std::exception_ptr put(const Entry& entry) {
      try {
        if (entry.file) {
          sink_.put_file(entry.key, *entry.file);
        } else {
          sink_.put(entry.key, entry.bytes);
        }
        return {};
      } catch (...) {
        return std::current_exception();
      }
    }

    void fail(std::exception_ptr failure) {
      failure_ = std::move(failure);
      entries_.clear();
      bytes_ = 0;
    }

    S sink_;
    QueuedOptions options_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Entry> entries_;
    std::size_t bytes_ = 0;  ///< bytes of all entries, including the one being put
    std::exception_ptr failure_;
    bool busy_ = false;
    bool stopping_ = false;
    std::thread worker_;
  };

  std::unique_ptr<State> state_;
};

}  // namespace seqtrain::sink
