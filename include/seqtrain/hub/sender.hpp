#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include <seqtrain/http/message.hpp>
#include <seqtrain/hub/settings.hpp>

namespace seqtrain::hub {

/// Sends requests to the hub and to the storage that it points to. Only requests to the hub carry
/// the token. Several threads may use one sender.
class Sender {
 public:
  /// An answer and its origin.
  struct Answer {
    http::Response response;
    bool by_hub;  ///< true if the hub answered, false if its storage did
  };

  Sender(std::unique_ptr<http::Transport> transport, Settings settings)
      : transport_{std::move(transport)}, settings_{std::move(settings)} {}

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }

  /// Sends a request and follows redirects, to other hosts only if `elsewhere` is set. Every host
  /// gets the headers of the request, and only the hub gets the token. Throws `TransportError`, or
  /// `TrustError` if a redirect leads from an encrypted address to one that is not.
  [[nodiscard]] Answer send(http::Request request, bool elsewhere) const {
    const auto headers = request.headers;
    const bool has_token = std::ranges::any_of(headers, [](const http::Header& header) {
      return http::same_ignoring_case(header.name, "Authorization");
    });
    for (int redirects = 0; redirects <= 10; ++redirects) {
      const bool by_hub = is_hub(request.url);
      request.headers = headers;
      if (by_hub && !has_token && !settings_.token.empty()) {
        request.headers.push_back({"Authorization", "Bearer " + settings_.token});
      }
      auto response = transport_->send(request);
      const auto location = response.redirection();
      if (!location) return {std::move(response), by_hub};
      const auto next = request.url.at(*location, "an address that the hub sent");
      if (!elsewhere && !is_hub(next)) return {std::move(response), by_hub};
      demand_encryption(request.url, next);
      request.url = next;
    }
    throw http::TrustError{"redirected too often", {.object = settings_.endpoint.origin()}};
  }

  /// Throws `TrustError` if a redirect from `from` to `to` would end encryption.
  static void demand_encryption(const http::Url& from, const http::Url& to) {
    if (from.scheme != "https" || to.scheme == "https") return;
    throw http::TrustError{"the hub points to " + to.origin() + ", which is not encrypted",
                           {.object = from.origin()}};
  }

 private:
  /// Tells whether an address belongs to the endpoint or to the public hub, to which mirrors
  /// redirect.
  [[nodiscard]] bool is_hub(const http::Url& url) const {
    const auto origin = url.origin();
    return origin == settings_.endpoint.origin() || origin == public_hub;
  }

  std::unique_ptr<http::Transport> transport_;
  Settings settings_;
};

}  // namespace seqtrain::hub
