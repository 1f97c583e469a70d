#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace seqtrain::serve {

/// A number of bytes that many holders share. Several threads may use it.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t limit) : limit_{limit} {}

  /// Returns the number of bytes that are held.
  [[nodiscard]] std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_full() const { return held() >= limit_; }

  /// Returns the most bytes that were held at once since the last call.
  [[nodiscard]] std::size_t take_peak() { return peak_.exchange(held()); }

  /// The bytes of one holder. They return to the budget with it. One thread at a time may use it.
  class Share {
   public:
    explicit Share(ByteBudget* budget) : budget_{budget} {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { set(0); }

    /// Holds this many bytes, even if they are more than the budget has.
    void set(std::size_t bytes) { change(bytes, false); }

    /// Holds this many bytes, unless they are more than before and more than the budget has left.
    /// Returns whether it does.
    bool try_set(std::size_t bytes) { return change(bytes, true); }

   private:
    bool change(std::size_t bytes, bool limited) {
      if (budget_ == nullptr || bytes == bytes_) return true;
      if (bytes < bytes_) {
        budget_->held_.fetch_sub(bytes_ - bytes, std::memory_order_relaxed);
      } else if (!budget_->add(bytes - bytes_, limited)) {
        return false;
      }
      bytes_ = bytes;
      return true;
    }

    ByteBudget* budget_;
    std::size_t bytes_ = 0;
  };

 private:
  bool add(std::size_t more, bool limited) {
    const std::size_t now = held_.fetch_add(more, std::memory_order_relaxed) + more;
    if (limited && now > limit_) {
      held_.fetch_sub(more, std::memory_order_relaxed);
      return false;
    }
    // A peak that another thread replaces at this moment is lost, which does no harm.
    if (now > peak_.load(std::memory_order_relaxed)) peak_.store(now, std::memory_order_relaxed);
    return true;
  }

  std::size_t limit_;
  std::atomic<std::size_t> held_ = 0;
  std::atomic<std::size_t> peak_ = 0;
};

}  // namespace seqtrain::serve
