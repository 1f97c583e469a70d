#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/gcs/token.hpp>

namespace seqtrain::gcs {

/// Keeps one token and renews it before it expires. The renewal is at a random moment of the
/// token's last four minutes, because the metadata server then has a new token and many clients
/// must not ask at once. One thread renews the token while the others use the old one, or wait if
/// there is none. If a renewal fails while the old token is valid, the next attempt follows ten
/// seconds later.
class TokenSource {
 public:
  /// All objects that `context` refers to must outlive this object.
  TokenSource(std::unique_ptr<Credentials> credentials, TokenContext context)
      : credentials_{std::move(credentials)}, context_{context} {}

  /// Returns a valid token, which is empty for anonymous access. Throws as `Credentials::fetch`
  /// does.
  [[nodiscard]] std::string get() {
    std::unique_lock lock{mutex_};
    while (true) {
      const auto now = context_.timing.now();
      const bool usable = !value_.empty() && now < end_;
      if (known_ && (now < renew_ || (usable && renewing_))) return value_;
      if (!renewing_) return renew(lock, usable);
      renewed_.wait(lock);
    }
  }

  /// Discards `token`, which the service has refused.
  void refuse(const std::string& token) {
    const std::lock_guard lock{mutex_};
    if (known_ && value_ == token && !value_.empty()) known_ = false;
  }

  [[nodiscard]] const Credentials& credentials() const noexcept { return *credentials_; }

 private:
  static http::Clock::duration as_duration(http::Seconds time) {
    return std::chrono::duration_cast<http::Clock::duration>(time);
  }

  std::string renew(std::unique_lock<std::mutex>& lock, bool old_is_usable) {
    renewing_ = true;
    lock.unlock();
    std::optional<Token> token;
    std::exception_ptr failure;
    const auto asked = context_.timing.now();
    try {
      token = credentials_->fetch(context_, scope::storage);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    renewing_ = false;
    renewed_.notify_all();
    if (token) {
      accept(*token, asked);
    } else if (old_is_usable && known_) {
      if (context_.log) context_.log("renewing the token failed; the old one is still valid");
      renew_ = std::min(end_, context_.timing.now() + std::chrono::seconds{10});
    } else {
      std::rethrow_exception(failure);
    }
    return value_;
  }

  void accept(const Token& token, http::Clock::time_point asked) {
    known_ = true;
    value_ = token.value;
    if (value_.empty()) {
      end_ = renew_ = http::Clock::time_point::max();
      return;
    }
    const auto lifetime = std::clamp(token.lifetime, http::Seconds{1}, http::Seconds{12 * 3600});
    const auto early =
        std::min(http::Seconds{60} + context_.timing.random() * http::Seconds{165}, lifetime / 4);
    end_ = asked + as_duration(lifetime * 0.98);
    renew_ = asked + as_duration(lifetime - early);
    renew_ = std::min(renew_, end_);
  }

  std::unique_ptr<Credentials> credentials_;
  TokenContext context_;
  std::mutex mutex_;
  std::condition_variable renewed_;
  std::string value_;
  http::Clock::time_point end_{};
  http::Clock::time_point renew_{};
  bool known_ = false;
  bool renewing_ = false;
};

}  // namespace seqtrain::gcs
