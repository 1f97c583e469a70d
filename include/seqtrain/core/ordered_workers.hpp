#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace seqtrain {

/// Calls `task(i)` for each i below `count` on up to `threads` threads. Calls start in order. After
/// an exception no new call starts; the first exception is thrown when all calls have ended.
template <class Task>
void run_parallel(std::size_t threads, std::size_t count, const Task& task) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    for (auto i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock{mutex};
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < std::min(threads, count); ++i) workers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

/// Makes items ahead on several threads and returns them in order, so the result does not depend on
/// the number of threads. Items live in a ring of slots whose memory is reused, so at most that
/// many items are ahead. The destructor stops the threads at their next item.
template <class Item>
class OrderedWorkers {
 public:
  /// Fills an item. `worker` is the thread's number, from 0.
  using Make = std::function<void(std::size_t index, std::size_t worker, Item& item)>;

  /// Makes the items `first` to `end` - 1 in `slots`. There must be at least one slot more than
  /// there are workers. Without workers there are no threads, and `next` makes the item itself.
  OrderedWorkers(std::size_t first, std::size_t end, std::size_t workers, std::vector<Item> slots,
                 Make make)
      : claimed_{first}, released_{first}, end_{std::max(first, end)}, make_{std::move(make)} {
    for (Item& item : slots) slots_.push_back({.item = std::move(item)});
    workers = std::min(workers, end_ - first);
    threads_.reserve(workers);
    try {
      for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this, i] { work(i); });
    } catch (...) {
      stop();
      throw;
    }
  }

  ~OrderedWorkers() { stop(); }

  /// Returns the next item, which is valid until the next call, or nullptr after the last. An
  /// exception from making an item is thrown here when its turn comes, and by every later call.
  Item* next() {
    std::unique_lock lock{mutex_};
    if (held_) release();
    if (released_ == end_) return nullptr;
    Slot& slot = slot_of(released_);
    if (threads_.empty() && !slot.ready) {
      make(slot, released_, 0);
      slot.ready = true;
    }
    made_.wait(lock, [&] { return slot.ready; });
    if (slot.error) std::rethrow_exception(slot.error);
    held_ = true;
    return &slot.item;
  }

  /// An input iterator over the items, in order.
  class Iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(OrderedWorkers& workers) : workers_{&workers}, item_{workers.next()} {}

    const Item& operator*() const { return *item_; }
    const Item* operator->() const { return item_; }
    Iterator& operator++() {
      item_ = workers_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return item_ == nullptr; }

   private:
    OrderedWorkers* workers_ = nullptr;
    const Item* item_ = nullptr;
  };

  /// Begins a pass over the items that are left, by `next`.
  [[nodiscard]] Iterator begin() { return Iterator{*this}; }
  [[nodiscard]] static std::default_sentinel_t end() { return {}; }

 private:
  struct Slot {
    Item item;
    std::exception_ptr error = nullptr;
    bool ready = false;
  };

  Slot& slot_of(std::size_t index) { return slots_[index % slots_.size()]; }

  void release() {
    slot_of(released_++).ready = false;
    held_ = false;
    room_.notify_one();
  }

  void make(Slot& slot, std::size_t index, std::size_t worker) {
    try {
      make_(index, worker, slot.item);
    } catch (...) {
      slot.error = std::current_exception();
    }
  }

  void work(std::size_t worker) {
    std::unique_lock lock{mutex_};
    for (;;) {
      const auto may_go_on = [this] {
        return stopped_ || claimed_ == end_ || claimed_ - released_ < slots_.size();
      };
      room_.wait(lock, may_go_on);
      if (stopped_ || claimed_ == end_) return;
      const std::size_t index = claimed_++;
      lock.unlock();
      Slot& slot = slot_of(index);
      make(slot, index, worker);
      lock.lock();
      slot.ready = true;
      made_.notify_one();
    }
  }

  void stop() noexcept {
    {
      const std::lock_guard lock{mutex_};
      stopped_ = true;
    }
    room_.notify_all();
    threads_.clear();  // joins
  }

  std::mutex mutex_;
  std::condition_variable room_;  ///< a slot has become free
  std::condition_variable made_;  ///< an item is ready
  std::size_t claimed_;           ///< items before this one are made or being made
  std::size_t released_;          ///< items before this one have been returned and released
  const std::size_t end_;
  bool held_ = false;  ///< true if the caller holds item `released_`
  bool stopped_ = false;
  std::vector<Slot> slots_;
  Make make_;
  std::vector<std::jthread> threads_;
};

}  // namespace seqtrain
