#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timing.hpp>

namespace seqtrain::gcs {

/// An access token, which authorises requests.
struct Token {
  std::string value;         ///< a secret
  http::Seconds lifetime{};  ///< counted from the request
};

namespace scope {
inline constexpr const char* storage = "https://www.googleapis.com/auth/devstorage.read_write";
inline constexpr const char* platform = "https://www.googleapis.com/auth/cloud-platform";
}  // namespace scope

/// The services that credentials need to fetch a token.
struct TokenContext {
  http::Transport& transport;
  const http::RetryPolicy& retry;
  const http::Timing& timing;
  const http::Log& log;
};

/// An identity for which tokens can be fetched. `TokenSource` keeps the tokens.
class Credentials {
 public:
  Credentials() = default;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  virtual ~Credentials() = default;

  /// Fetches a token. Throws `InputError` if the identity is refused, and `Error` if nobody
  /// answers.
  [[nodiscard]] virtual Token fetch(const TokenContext& context, std::string_view scope) const = 0;

  /// Returns the name of the identity, for messages.
  [[nodiscard]] virtual std::string account() const = 0;

  std::string quota_project = {};  ///< pays for requests; empty if the credentials name none
};

/// Sends a request for a token, with retries. An error shows only OAuth's `error` and
/// `error_description`, no other part of the request or the answer.
inline http::Response ask_for_token(const TokenContext& context, const http::Request& request,
                                    const std::string& what) {
  http::Retry retry{context.retry, context.timing, context.log, what};
  while (true) {
    try {
      auto response = context.transport.send(request);
      if (!http::is_retryable(response.status)) return response;
      const auto reason = "status " + std::to_string(response.status);
      if (retry.wait(reason, http::retry_after(response, context.timing))) continue;
      throw Error{reason, {.object = what + " at " + request.url.origin()}};
    } catch (const http::TransportError& error) {
      if (!retry.wait(error.what())) throw;
    }
  }
}

namespace detail {

inline std::string oauth_problem(const http::Response& response) {
  auto problem = "status " + std::to_string(response.status);
  try {
    const auto document = json::Document::parse(response.body, "answer");
    const auto error = document.root().find("error");
    if (!error) return problem;
    if (error->is_string()) problem += ", " + std::string{error->string()};
    const auto more =
        error->is_object() ? error->find("message") : document.root().find("error_description");
    if (more) problem += ": " + std::string{more->string().substr(0, 300)};
  } catch (const InputError&) {  // not JSON, so the error has only the status
  }
  return problem;
}

/// Returns advice if this machine's clock differs from the answer's date, because the service
/// refuses requests that are signed with a wrong time.
inline std::string clock_advice(const http::Response& response, const http::Timing& timing) {
  const auto date = http::parse_http_date(response.find("Date").value_or(""));
  if (!date) return {};
  const auto off = static_cast<long long>(timing.wall_seconds() - *date);
  if (off > -120 && off < 120) return {};
  return "this machine's clock is off by " + std::to_string(off) + " seconds";
}

}  // namespace detail

/// Reads the answer `{"<token_field>": …, "expires_in": …}`.
inline Token read_token(const http::Response& response, const http::Timing& timing,
                        const std::string& who, std::string_view token_field) {
  if (!response.succeeded()) {
    throw InputError{"no token was given: " + detail::oauth_problem(response),
                     {.object = who},
                     detail::clock_advice(response, timing)};
  }
  const auto document = json::Document::parse(response.body, "token for " + who);
  Token token{std::string{document.root().at(token_field).string()}, http::Seconds{3600}};
  if (const auto left = document.root().find("expires_in"))
    token.lifetime = http::Seconds{left->number()};
  const bool plain =
      token.value.find_first_of(std::string_view{" \t\r\n\0", 5}) == std::string::npos;
  if (plain && !token.value.empty()) return token;
  throw InputError{"the token that was given is empty or broken", {.object = who}};
}

/// Asks for the token of the identity `who`. Throws as `Credentials::fetch` does.
inline Token fetch_token(const TokenContext& context, const http::Request& request,
                         const std::string& who, std::string_view token_field = "access_token") {
  const auto answer = ask_for_token(context, request, "token for " + who);
  return read_token(answer, context.timing, who, token_field);
}

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
