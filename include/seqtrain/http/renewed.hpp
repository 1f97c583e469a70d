#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/http/timing.hpp>

namespace seqtrain::http {

/// A secret that was just fetched.
template <class Value>
struct Fresh {
  Value value;
  /// The time for which it is valid, counted from the request; nothing if it never ends.
  std::optional<Seconds> lifetime;
};

/// Keeps one secret, such as a token, and renews it before it expires. The renewal is at a random
/// moment of the secret's last four minutes, because a metadata server then has a new one and many
/// clients must not ask at once. One thread renews it while the others use the old one, or wait if
/// there is none. If a renewal fails while the old secret is valid, the next attempt follows ten
/// seconds later.
template <class Value>
class Renewed {
 public:
  using Fetch = std::function<Fresh<Value>()>;

  /// `what` names the secret in the log. `timing` and `log` must outlive this object.
  Renewed(std::string what, Fetch fetch, const Timing& timing, const Log& log)
      : what_{std::move(what)}, fetch_{std::move(fetch)}, timing_{timing}, log_{log} {}

  /// Returns a valid secret. Throws what the function that fetches it throws.
  [[nodiscard]] Value get() {
    std::unique_lock lock{mutex_};
    while (true) {
      const auto now = timing_.now();
      if (known_ && (now < renew_ || (now < end_ && renewing_))) return value_;
      if (!renewing_) return renew(lock, known_ && now < end_);
      renewed_.wait(lock);
    }
  }

  /// Discards `value`, which a service has refused. A secret that never ends is kept.
  void refuse(const Value& value) {
    const std::lock_guard lock{mutex_};
    if (known_ && value_ == value && end_ != Clock::time_point::max()) known_ = false;
  }

 private:
  static Clock::duration as_duration(Seconds time) {
    return std::chrono::duration_cast<Clock::duration>(time);
  }

  Value renew(std::unique_lock<std::mutex>& lock, bool old_is_usable) {
    renewing_ = true;
    lock.unlock();
    std::optional<Fresh<Value>> fresh;
    std::exception_ptr failure;
    const auto asked = timing_.now();
    try {
      fresh = fetch_();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    renewing_ = false;
    renewed_.notify_all();
    if (fresh) {
      accept(*std::move(fresh), asked);
    } else if (old_is_usable && known_) {
      if (log_) log_("renewing " + what_ + " failed; what was fetched before is still valid");
      renew_ = std::min(end_, timing_.now() + std::chrono::seconds{10});
    } else {
      std::rethrow_exception(failure);
    }
    return value_;
  }

  void accept(Fresh<Value> fresh, Clock::time_point asked) {
    known_ = true;
    value_ = std::move(fresh.value);
    if (!fresh.lifetime) {
      end_ = renew_ = Clock::time_point::max();
      return;
    }
    const auto lifetime = std::clamp(*fresh.lifetime, Seconds{1}, Seconds{12 * 3600});
    const auto early = std::min(Seconds{60} + timing_.random() * Seconds{165}, lifetime / 4);
    end_ = asked + as_duration(lifetime * 0.98);
    renew_ = std::min(asked + as_duration(lifetime - early), end_);
  }

  std::string what_;
  Fetch fetch_;
  const Timing& timing_;
  const Log& log_;
  std::mutex mutex_;
  std::condition_variable renewed_;
  Value value_{};
  Clock::time_point end_{};
  Clock::time_point renew_{};
  bool known_ = false;
  bool renewing_ = false;
};

}  // namespace seqtrain::http
