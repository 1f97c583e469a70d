#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/core/text_similarity.hpp>
#include <seqtrain/http/timing.hpp>

/// HTTP messages and the interface of a transport. Nothing here opens a socket;
/// `beast_transport.hpp` does.
namespace seqtrain::http {

/// An absolute URL. It may hold secrets (upload sessions), so no function returns its whole text:
/// logs and errors show `origin()`.
struct Url {
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< is in lower case; an IPv6 address has no brackets
  std::string port;
  std::string target = "/";      ///< path and query, encoded
  std::string credentials = {};  ///< `user:password` for a proxy

  /// Parses a URL. Throws `InputError`, which does not repeat the text.
  static Url parse(std::string_view text, const std::string& what) {
    const auto wrong = InputError{"not an http:// or https:// address", {.object = what}};
    const auto colon = text.find("://");
    Url url{std::string{text.substr(0, std::min(colon, text.size()))}, {}, {}};
    if (url.scheme != "http" && url.scheme != "https") throw wrong;
    if (text.find_first_of(std::string_view{" \t\r\n\0", 5}) != text.npos) throw wrong;
    auto rest = text.substr(colon + 3);
    const auto slash = std::min(rest.find_first_of("/?#"), rest.size());
    if (slash < rest.size())
      url.target = (rest[slash] == '/' ? "" : "/") + std::string{rest.substr(slash)};
    url.target = url.target.substr(0, url.target.find('#'));
    if (!url.parse_authority(rest.substr(0, slash))) throw wrong;
    return url;
  }

  /// Returns the URL of a `Location` header, which may be a path on this host. Throws `InputError`
  /// like `parse`.
  [[nodiscard]] Url at(const std::string& location, const std::string& what) const {
    if (!location.starts_with('/') || location.starts_with("//")) return parse(location, what);
    auto url = *this;
    url.target = location.substr(0, location.find('#'));
    return url;
  }

  /// Returns `scheme://host:port`, without the port if it is the scheme's default.
  [[nodiscard]] std::string origin() const { return scheme + "://" + authority(); }

  [[nodiscard]] std::string authority() const {
    const bool usual = port == (scheme == "https" ? "443" : "80");
    const auto shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return usual ? shown : shown + ":" + port;
  }

 private:
  bool parse_authority(std::string_view text) {
    if (const auto at = text.rfind('@'); at != text.npos) {
      credentials = text.substr(0, at);
      text.remove_prefix(at + 1);
    }
    auto end = text.find(':');
    if (text.starts_with('[')) {
      end = text.find(']');
      if (end == text.npos) return false;
      host = text.substr(1, end - 1);
      end = end + 1 < text.size() ? end + 1 : text.npos;
    } else {
      host = text.substr(0, std::min(end, text.size()));
    }
    std::transform(host.begin(), host.end(), host.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    port = end == text.npos ? (scheme == "https" ? "443" : "80") : text.substr(end + 1);
    if (end != text.npos && text[end] != ':') return false;
    const int number = parse_number<int>(port).value_or(0);
    return !host.empty() && number > 0 && number < 65536;
  }
};

/// A header field of a message.
struct Header {
  std::string name;
  std::string value;
};

/// Receives the body of an answer with status 200 or 206, piece by piece.
using BodySink = std::function<void(std::span<const std::byte>)>;

/// Limits on the time of a request. Each limit counts separately.
struct Deadlines {
  Seconds connect{10};     ///< the time for the name lookup, the connection and TLS
  Seconds write{60};       ///< the longest time without a byte sent
  Seconds read{60};        ///< the longest time without a byte received
  Seconds whole{15 * 60};  ///< the time for the request and its whole answer, without `connect`
};

struct Response;

/// A request. The memory that it refers to must live until `send` returns.
struct Request {
  std::string method = "GET";
  Url url = {};
  std::vector<Header> headers = {};
  std::vector<std::span<const std::byte>> body = {};   ///< pieces that are sent one after the other
  std::uint64_t max_answer = std::uint64_t{16} << 20;  ///< most bytes of the answer's body
  BodySink sink = {};  ///< if set, receives a successful body in place of `Response::body`
  /// The function that is called, if set, with the status and the headers of an answer whose body
  /// goes to `sink`.
  std::function<void(const Response&)> before_body = {};
};

/// An answer: its status, headers and body.
struct Response {
  int status = 0;
  std::vector<Header> headers = {};
  std::string body = {};

  /// Returns the value of the first header with that name, or nothing.
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const {
    for (const auto& header : headers) {
      if (equal_but_case(header.name, name)) return header.value;
    }
    return {};
  }
  [[nodiscard]] bool succeeded() const noexcept { return status >= 200 && status < 300; }

  /// Returns the address of a redirect, or nothing. A 308 without an address belongs to a resumable
  /// upload.
  [[nodiscard]] std::optional<std::string> redirection() const {
    const bool redirects =
        status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
    return redirects ? find("Location") : std::nullopt;
  }
};

/// The error that a service has no such thing.
struct NotFound : InputError {
  using InputError::InputError;
};

/// The error that the account or the token, or the lack of one, does not allow a request.
struct Forbidden : InputError {
  using InputError::InputError;
};

/// An exchange that failed: no connection, a reset, a time-out, an incomplete answer. The service
/// may or may not have processed the request.
struct TransportError : Error {
  using Error::Error;
};

/// No server could be reached: there was no address or no connection.
struct Unreachable : TransportError {
  using TransportError::TransportError;
};

/// The server is not the one it claims to be, or breaks the protocol. A retry does not help.
struct TrustError : Error {
  using Error::Error;
};

/// Sends requests and returns their answers. Several threads may use it at once.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Sends a request and returns the answer, whatever its status. Throws `TransportError` or
  /// `TrustError` if there is no complete answer.
  virtual Response send(const Request& request) = 0;

  /// Lets `send` throw soon after `stop` requests it. Must be called before the first `send`.
  virtual void stop_at(std::stop_token /*stop*/) {}
};

/// Returns the bytes of a text, for use as a body.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

/// Returns the wait that `Retry-After` asks for, which is given in seconds or as a date.
inline std::optional<Seconds> retry_after(const Response& response, const Timing& timing) {
  const auto text = response.find("Retry-After");
  if (!text) return {};
  std::int64_t seconds = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (parsed.ec != std::errc{}) {
    const auto date = parse_http_date(*text);
    if (!date) return {};
    seconds = *date - timing.wall_seconds();
  }
  return Seconds{static_cast<double>(std::clamp<std::int64_t>(seconds, 0, 3600))};
}

/// Replaces every byte but letters, digits and `-._~` by `%XX` (RFC 3986), as one segment of a path
/// or a value in a query needs it.
inline std::string percent_encode(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (plain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += {'%', hex[byte >> 4], hex[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace seqtrain::http
