#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/lists.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_head.hpp>
#include <seqtrain/serve/http_message.hpp>

namespace seqtrain::serve {

/// The options say who may use the server.
struct AccessOptions {
  /// The origins, such as `https://example.com`, whose pages may read answers; `*` is any.
  std::vector<std::string> origins = {};
  std::string api_key = {};             ///< requests must send it as a bearer token; empty: none
  std::vector<std::string> hosts = {};  ///< the names that `Host` may have; empty: any
};

namespace detail {

/// Compares in a time that does not depend on where the texts differ.
inline bool equal_secrets(std::string_view given, std::string_view secret) {
  unsigned different = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = secret.empty() ? '\0' : secret[i % secret.size()];
    different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(other);
  }
  return different == 0;
}

}  // namespace detail

/// Decides which requests are answered, and which web pages may read the answers. A browser sends
/// requests of any page to any server, also to one on the user's own machine.
class Access {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  explicit Access(AccessOptions options) : options_{std::move(options)} {}

  /// Throws an `HttpError` unless a request comes from an allowed page or from no page, names an
  /// allowed host, and has the key. Paths for health and metrics are `open`: they need no key.
  void check(const HttpRequest& request, bool open) const {
    const auto host = http_syntax::split_authority(request.host).host;
    if (!options_.hosts.empty() && std::ranges::count(options_.hosts, host) == 0) {
      throw HttpError{421, error_type::validation,
                      "this server is not called so; --allowed-hosts names its hosts"};
    }
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (!reads && is_foreign(request) && !allows(request.origin)) {
      throw HttpError{
          403, error_type::validation,
          "requests of this page are not allowed; --cors-allow-origin names its origin"};
    }
    if (options_.api_key.empty() || open || request.method == "OPTIONS") return;
    constexpr std::string_view scheme = "Bearer ";
    const std::string_view given = request.authorization;
    const bool has_key = given.starts_with(scheme) &&
                         detail::equal_secrets(given.substr(scheme.size()), options_.api_key);
    if (!has_key) {
      throw HttpError{401, error_type::validation,
                      "needs the header Authorization: Bearer, with the server's key"};
    }
  }

  /// Returns the headers that let the page of a request read the answer (CORS, of the Fetch
  /// standard).
  [[nodiscard]] Headers headers_for(const HttpRequest& request) const {
    if (options_.origins.empty()) return {};
    Headers headers{{"Vary", "Origin"}};
    if (request.origin.empty() || !allows(request.origin)) return headers;
    headers.emplace_back("Access-Control-Allow-Origin", request.origin);
    if (request.method != "OPTIONS") {
      headers.emplace_back("Access-Control-Expose-Headers",
                           "X-Request-Id, Inference-Header-Content-Length, Retry-After");
      return headers;
    }
    headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, PUT");
    headers.emplace_back("Access-Control-Allow-Headers",
                         "Authorization, Content-Type, Content-Encoding, X-Request-Id, "
                         "Inference-Header-Content-Length");
    headers.emplace_back("Access-Control-Max-Age", "600");
    return headers;
  }

 private:
  [[nodiscard]] bool allows(std::string_view origin) const {
    const auto& allowed = options_.origins;
    return std::ranges::any_of(allowed,
                               [&](const auto& each) { return each == "*" || each == origin; });
  }

  /// Tells whether a page of another origin sends a request. Browsers say so by `Sec-Fetch-Site`;
  /// older ones send only `Origin`, which is compared with `Host`.
  static bool is_foreign(const HttpRequest& request) {
    if (!request.fetch_site.empty()) {
      return request.fetch_site != "same-origin" && request.fetch_site != "none";
    }
    if (request.origin.empty()) return false;
    const std::string_view origin = request.origin;
    const auto scheme = origin.find("://");
    return scheme == origin.npos || origin.substr(scheme + 3) != request.host;
  }

  AccessOptions options_;
};

}  // namespace seqtrain::serve
