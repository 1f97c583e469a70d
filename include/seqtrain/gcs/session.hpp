#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/gcs/token.hpp>
#include <seqtrain/gcs/uri.hpp>
#include <seqtrain/http/attempt.hpp>
#include <seqtrain/http/calls.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timing.hpp>

namespace seqtrain::gcs {

using http::Forbidden, http::NotFound;

/// The error that the object has another generation than the request requires.
struct PreconditionFailed : Error {
  using Error::Error;
};

/// Options of `Session`.
struct SessionOptions {
  http::Url endpoint = {"https", "storage.googleapis.com", "443"};
  bool is_emulator = false;
  std::string user_project = {};  ///< pays for requests to buckets whose owner does not
  http::RetryPolicy retry = {};
  http::Timing timing = {};
  http::Log log = {};
};

/// A storage operation, as error messages name it.
struct Operation {
  std::string object;      ///< `gs://bucket/name`
  std::string permission;  ///< the permission that it needs, e.g. `storage.objects.get`
  std::string absent = "no such bucket or object";  ///< the meaning of a 404

  [[nodiscard]] const std::string& place() const noexcept { return object; }
};

/// Sends requests to the storage service. It authorises them, follows redirects to trusted hosts
/// only, repeats them if that may help, and turns failures into plain errors. Several threads may
/// use it.
class Session : public http::Calls<Session, Operation> {
 public:
  Session(std::unique_ptr<http::Transport> transport, std::unique_ptr<Credentials> credentials,
          SessionOptions options)
      : options_{std::move(options)},
        transport_{std::move(transport)},
        tokens_{std::move(credentials),
                {*transport_, options_.retry, options_.timing, options_.log}} {
    options_.retry.validate();
    options_.timing.stop = stop();
    transport_->stop_at(stop());
  }

  [[nodiscard]] const SessionOptions& options() const noexcept { return options_; }

  /// Returns the address of `path?query` at the endpoint. Both must be encoded.
  [[nodiscard]] http::Url url(const std::string& path, const std::string& query = "") const {
    auto url = options_.endpoint;
    url.target = path + (query.empty() ? "" : "?" + query);
    if (!options_.user_project.empty()) {
      url.target += (query.empty() ? "?" : "&") +
                    ("userProject=" + http::percent_encode(options_.user_project));
    }
    return url;
  }

  /// Checks an address that the service sent. Throws `TrustError` unless it is the endpoint or an
  /// https address of Google's, because requests carry secrets and data.
  [[nodiscard]] http::Url trusted(const std::string& location, const http::Url& base) const {
    const auto url = base.at(location, "an address that the service sent");
    const bool own = url.origin() == options_.endpoint.origin();
    if (own || (url.scheme == "https" && url.port == "443" && is_google(url.host))) return url;
    throw http::TrustError{"the service points to " + url.origin() +
                               ", which is not an address of Google's and is not followed",
                           {.object = base.origin()}};
  }

  /// Throws the error that an answer reports.
  [[noreturn]] void fail(const http::Response& response, const Operation& operation) const {
    const auto text = message(response);
    const Where where{.object = operation.object};
    const auto account = tokens_.credentials().account();
    switch (response.status) {
      case 401:
        throw Forbidden{"the service does not accept the credentials of " + account + text, where};
      case 403:
        throw Forbidden{account + " is not allowed to do this" + text, where,
                        "the permission " + operation.permission + " is needed"};
      case 404:
        throw NotFound{operation.absent + text, where};
      case 412:
        throw PreconditionFailed{"the object has been changed by somebody else", where};
      default:
        throw Error{"the service answered " + std::to_string(response.status) + text, where};
    }
  }

 private:
  friend class http::Calls<Session, Operation>;

  /// Sends one request with its token. Renews a refused token once, and follows redirects.
  http::Response exchange(http::Request request, const Operation&) {
    for (int redirects = 0; redirects <= 5; ++redirects) {
      auto response = authorised(request);
      const auto location = response.redirection();
      if (!location) return response;
      request.url = trusted(*location, request.url);
      if (response.status == 303) request.method = "GET", request.body.clear();
    }
    throw http::TrustError{"redirected too often", {.object = options_.endpoint.origin()}};
  }

  /// Returns why a request with this answer is sent again, or nothing.
  static std::optional<std::string> repeats(const http::Response& response) {
    return http::reason_to_repeat(response);
  }

  /// Throws the error for a request that got no answer.
  [[noreturn]] void give_up(const http::TransportError& error, const Operation& operation) const {
    const auto problem = std::string{"the service cannot be reached: "} + error.what();
    if (!options_.is_emulator) throw Error{problem, {.object = operation.object}};
    throw InputError{problem, {.object = operation.object}, "see STORAGE_EMULATOR_HOST"};
  }

  static bool is_google(const std::string& host) {
    const auto below = [&](std::string_view domain) { return host.ends_with(domain); };
    return below(".googleapis.com") || below(".google.com") || below(".googleusercontent.com");
  }

  http::Response authorised(const http::Request& request) {
    auto token = tokens_.get();
    auto response = send_with(token, request);
    if (response.status != 401 || token.empty()) return response;
    tokens_.refuse(token);
    token = tokens_.get();
    return send_with(token, request);
  }

  http::Response send_with(const std::string& token, http::Request request) {
    if (!token.empty()) request.headers.push_back({"Authorization", "Bearer " + token});
    const auto project = tokens_.credentials().quota_project;
    if (!project.empty()) request.headers.push_back({"x-goog-user-project", project});
    return transport_->send(request);
  }

  /// Returns the service's own message as one line.
  static std::string message(const http::Response& response) {
    std::string text;
    try {
      const auto document = json::Document::parse(response.body, "answer");
      const auto error = document.root().find("error");
      const auto said = error && error->is_object() ? error->find("message") : std::nullopt;
      if (said) text = ": " + std::string{said->string().substr(0, 300)};
    } catch (const InputError&) {  // not JSON, so the error has only the status
    }
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    std::replace_if(text.begin(), text.end(), control, ' ');
    return text;
  }

  SessionOptions options_;
  std::unique_ptr<http::Transport> transport_;
  TokenSource tokens_;
};

}  // namespace seqtrain::gcs
