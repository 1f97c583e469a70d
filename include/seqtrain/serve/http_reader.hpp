#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/refusal.hpp>

namespace seqtrain::serve {

/// Turns the bytes that a client sends into requests. It knows nothing of sockets.
class HttpReader {
 public:
  struct Limits {
    std::size_t header = 16384;
    std::size_t body = 1572864;
  };

  /// The states in which the reader can stop.
  enum class Step {
    more,      ///< it needs more bytes
    proceed,   ///< the client waits for "100 Continue" before it sends the body
    complete,  ///< `take` returns a request
    refused,   ///< `refusal` tells why; nothing more can be read
  };

  explicit HttpReader(Limits limits) : limits_{limits} {}

  /// Parses `bytes`, which begin after the bytes consumed before. Adds the number of bytes that it
  /// consumes to `consumed`. Unless the step is `more`, bytes may be left over.
  Step read(std::string_view bytes, std::size_t& consumed) {
    namespace http = boost::beast::http;
    if (refusal_) return Step::refused;
    if (!parser_) skip_empty_lines(bytes, consumed);
    while (!bytes.empty()) {
      if (!parser_) start();
      boost::beast::error_code error;
      const bool in_header = !parser_->is_header_done();
      const auto used = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
      consumed += used;
      bytes.remove_prefix(used);
      if (error && error != http::error::need_more) return refuse(error);
      if (parser_->is_done()) return Step::complete;
      if (in_header && parser_->is_header_done() && bytes.empty() && expects_continue()) {
        return Step::proceed;
      }
      if (error == http::error::need_more) break;
    }
    return Step::more;
  }

  /// Returns the complete request. Then the reader is ready for the next one.
  HttpRequest take() {
    using Field = boost::beast::http::field;
    auto message = parser_->release();
    HttpRequest request{.method = std::string{message.method_string()},
                        .target = std::string{message.target()},
                        .id = usable_id(message["X-Request-Id"]),
                        .inference_header = std::string{message["Inference-Header-Content-Length"]},
                        .content_type = std::string{message[Field::content_type]},
                        .content_encoding = std::string{message[Field::content_encoding]},
                        .host = std::string{message[Field::host]},
                        .origin = std::string{message[Field::origin]},
                        .fetch_site = std::string{message["Sec-Fetch-Site"]},
                        .authorization = std::string{message[Field::authorization]},
                        .body = std::move(message.body()),
                        .version = message.version(),
                        .keep_alive = message.keep_alive()};
    parser_.reset();
    return request;
  }

  /// Returns whether a part of a request has been read.
  [[nodiscard]] bool in_request() const { return parser_.has_value(); }
  /// Returns whether a request's header has been read and its body is incomplete.
  [[nodiscard]] bool in_body() const { return parser_ && parser_->is_header_done(); }
  [[nodiscard]] const Refusal& refusal() const { return *refusal_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void start() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(limits_.header));
    parser_->body_limit(limits_.body);
  }

  /// Skips empty lines, because some clients send one after a body.
  static void skip_empty_lines(std::string_view& bytes, std::size_t& consumed) {
    const auto begin = std::min(bytes.find_first_not_of("\r\n"), bytes.size());
    consumed += begin;
    bytes.remove_prefix(begin);
  }

  [[nodiscard]] bool expects_continue() const {
    return boost::beast::iequals(parser_->get()["Expect"], "100-continue") &&
           parser_->get().version() >= 11;
  }

  /// Returns the id if it is safe in a header and in a log, else "".
  static std::string usable_id(boost::beast::string_view id) {
    const bool usable = id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
                          return c > ' ' && c < 0x7f && c != '"' && c != '\\';
                        });
    return usable ? std::string{id} : std::string{};
  }

  Step refuse(const boost::beast::error_code& error) {
    namespace http = boost::beast::http;
    int status = 400;
    std::string problem = "not an HTTP/1.1 request: " + error.message();
    if (error == http::error::header_limit) {
      status = 431;
      problem = "the header is larger than " + std::to_string(limits_.header) + " bytes";
    } else if (error == http::error::body_limit) {
      status = 413;
      problem = "the body is larger than " + std::to_string(limits_.body) + " bytes";
    } else if (error == http::error::bad_version) {
      status = 505;
      problem = "only HTTP/1.0 and HTTP/1.1 are supported";
    }
    refusal_.emplace(status, error_type::validation, problem);
    return Step::refused;
  }

  Limits limits_;
  std::optional<Parser> parser_;
  std::optional<Refusal> refusal_;
};

}  // namespace seqtrain::serve
