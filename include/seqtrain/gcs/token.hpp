#pragma once

#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/retry.hpp>

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

  /// Returns the project that pays for requests, or nothing if the credentials name none.
  [[nodiscard]] virtual std::string quota_project() const { return {}; }
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
  const auto date = http::date_of(response);
  if (!date) return {};
  const auto off = static_cast<long long>(timing.wall_seconds() - *date);
  if (off > -120 && off < 120) return {};
  return "this machine's clock is off by " + std::to_string(off) + " seconds";
}

}  // namespace detail

/// Reads the answer `{"<token_field>": …, "expires_in": …}`.
inline Token read_token(const http::Response& response, const http::Timing& timing,
                        const std::string& who, std::string_view token_field = "access_token") {
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

}  // namespace seqtrain::gcs
