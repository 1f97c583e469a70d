#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/http/attempt.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/renewed.hpp>
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

/// An identity for which tokens can be fetched. `TokenSource` keeps the tokens.
class Credentials {
 public:
  Credentials() = default;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  virtual ~Credentials() = default;

  /// Fetches a token. Throws `InputError` if the identity is refused, and `Error` if nobody
  /// answers.
  [[nodiscard]] virtual Token fetch(const http::FetchContext& context,
                                    std::string_view scope) const = 0;

  /// Returns the name of the identity, for messages.
  [[nodiscard]] virtual std::string account() const = 0;

  std::string quota_project = {};  ///< pays for requests; empty if the credentials name none
};

/// Sends a request for a token, with retries. An error shows only OAuth's `error` and
/// `error_description`, no other part of the request or the answer.
inline http::Response ask_for_token(const http::FetchContext& context, const http::Request& request,
                                    const std::string& what) {
  return http::ask(context, request, what, what + " at " + request.url.origin());
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
inline Token fetch_token(const http::FetchContext& context, const http::Request& request,
                         const std::string& who, std::string_view token_field = "access_token") {
  const auto answer = ask_for_token(context, request, "token for " + who);
  return read_token(answer, context.timing, who, token_field);
}

/// Keeps one token and renews it before it expires, as `http::Renewed` does.
class TokenSource {
 public:
  /// All objects that `context` refers to must outlive this object.
  TokenSource(std::unique_ptr<Credentials> credentials, http::FetchContext context)
      : credentials_{std::move(credentials)},
        context_{context},
        token_{"the token", [this] { return fetch(); }, context_.timing, context_.log} {}
  TokenSource(const TokenSource&) = delete;
  TokenSource& operator=(const TokenSource&) = delete;

  /// Returns a valid token, which is empty for anonymous access. Throws as `Credentials::fetch`
  /// does.
  [[nodiscard]] std::string get() { return token_.get(); }

  /// Discards `token`, which the service has refused.
  void refuse(const std::string& token) { token_.refuse(token); }

  [[nodiscard]] const Credentials& credentials() const noexcept { return *credentials_; }

 private:
  [[nodiscard]] http::Fresh<std::string> fetch() const {
    auto token = credentials_->fetch(context_, scope::storage);
    if (token.value.empty()) return {};
    return {std::move(token.value), token.lifetime};
  }

  std::unique_ptr<Credentials> credentials_;
  http::FetchContext context_;
  http::Renewed<std::string> token_;
};

}  // namespace seqtrain::gcs
