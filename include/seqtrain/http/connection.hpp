#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <sys/socket.h>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/http/base64.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/pieces_body.hpp>
#include <seqtrain/http/timed_socket.hpp>

namespace seqtrain::http {

/// One connection to one origin, plain or TLS, direct or through a proxy. Calls block, but not
/// longer than their deadlines. One thread may use it at a time.
class Connection {
 public:
  /// `context` must verify peers. The connection verifies the name of the host.
  Connection(detail::asio::ssl::context& context, Url origin, std::optional<Url> proxy,
             const Deadlines& deadlines, const Resolve& resolve = &resolve_by_system,
             const std::stop_token& stop = {})
      : origin_{std::move(origin)},
        proxy_{std::move(proxy)},
        deadlines_{deadlines},
        end_{Clock::now() + as_duration(deadlines.connect)},
        stream_{io_, context} {
    tcp().stop_at(stop);
    connect(resolve, stop);
    if (proxy_) open_tunnel();
    if (origin_.scheme == "https") start_tls();
  }

  /// Sends the request and waits for the answer. After an exception the connection cannot be used.
  Response exchange(const Request& request) {
    end_ = Clock::now() + as_duration(deadlines_.whole);
    keep_ = false;
    return origin_.scheme == "https" ? exchange_on(stream_, request)
                                     : exchange_on(stream_.next_layer(), request);
  }

  /// Tells whether another request may follow: the server agrees to it, has not closed the
  /// connection and has sent nothing else.
  [[nodiscard]] bool reusable() {
    char byte = 0;
    const auto got = ::recv(tcp().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return keep_ && got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

 private:
  using Tls = detail::beast::ssl_stream<detail::TimedSocket>;
  using ErrorCode = detail::beast::error_code;
  using Parser = detail::beast_http::response_parser<detail::beast_http::buffer_body>;

  static Clock::duration as_duration(Seconds time) {
    return std::chrono::duration_cast<Clock::duration>(time);
  }
  detail::TimedSocket& tcp() { return stream_.next_layer(); }

  /// Sets the deadline of the next operations.
  void within(Seconds bound) {
    tcp().expires_at(std::min(end_, Clock::now() + as_duration(bound)));
  }

  [[noreturn]] void fail(const std::string& doing, ErrorCode error) const {
    const bool late = error == detail::beast::error::timeout;
    const bool short_answer = error == detail::beast_http::error::partial_message ||
                              error == detail::beast_http::error::end_of_stream ||
                              error == detail::asio::error::eof ||
                              error == detail::asio::ssl::error::stream_truncated;
    const auto reason = error == detail::asio::error::operation_aborted
                            ? std::string{"was cancelled"}
                        : late         ? std::string{"took too long"}
                        : short_answer ? std::string{"the far end closed the connection early"}
                                       : error.message();
    if (!connected_) throw Unreachable{doing + ": " + reason, {.object = origin_.origin()}};
    throw TransportError{doing + ": " + reason, {.object = origin_.origin()}};
  }
  void check(const std::string& doing, ErrorCode error) const {
    if (error) fail(doing, error);
  }

  void connect(const Resolve& resolve, const std::stop_token& stop) {
    const auto& next = proxy_ ? *proxy_ : origin_;
    ErrorCode error;
    const auto endpoints = look_up(resolve, next.host, next.port, end_, stop, error);
    check("looking up the name", error);
    within(deadlines_.connect);
    tcp().connect(endpoints, error);
    check("connecting", error);
    connected_ = true;
  }

  void open_tunnel() {
    namespace beast_http = detail::beast_http;
    const auto name =
        origin_.host.find(':') == std::string::npos ? origin_.host : "[" + origin_.host + "]";
    const auto authority = name + ":" + origin_.port;
    beast_http::request<beast_http::empty_body> request{beast_http::verb::connect, authority, 11};
    request.set(beast_http::field::host, authority);
    if (!proxy_->credentials.empty()) {
      request.set(beast_http::field::proxy_authorization,
                  "Basic " + base64(percent_decode(proxy_->credentials)));
    }
    beast_http::response_parser<beast_http::empty_body> parser;
    parser.skip(true);
    ErrorCode error;
    within(deadlines_.connect);
    beast_http::write(tcp(), request, error);
    check("asking the proxy", error);
    beast_http::read_header(tcp(), buffer_, parser, error);
    check("waiting for the proxy", error);
    refuse_unless_open(static_cast<int>(parser.get().result_int()));
    buffer_.clear();
  }

  void refuse_unless_open(int status) const {
    if (status >= 200 && status < 300) return;
    const auto problem = "the proxy answered " + std::to_string(status);
    if (status >= 500) throw TransportError{problem, {.object = proxy_->origin()}};
    throw InputError{problem, {.object = proxy_->origin()}, "see HTTPS_PROXY and NO_PROXY"};
  }

  void start_tls() {
    auto* tls = stream_.native_handle();
    ErrorCode not_address;
    detail::asio::ip::make_address(origin_.host, not_address);
    if (not_address) {
      SSL_set_tlsext_host_name(tls, origin_.host.c_str());
      SSL_set1_host(tls, origin_.host.c_str());
    } else {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), origin_.host.c_str());
    }
    ErrorCode error;
    within(deadlines_.connect);
    stream_.handshake(detail::asio::ssl::stream_base::client, error);
    const auto verdict = SSL_get_verify_result(tls);
    if (error && verdict != X509_V_OK) {
      throw TrustError{
          std::string{"the certificate is refused: "} + X509_verify_cert_error_string(verdict),
          {.object = origin_.origin()},
          "an authority of your own is named by SSL_CERT_FILE, by AWS_CA_BUNDLE for s3://, and by "
          "--ca-file of the program gcs"};
    }
    check("TLS handshake", error);
  }

  template <class Stream>
  Response exchange_on(Stream& stream, const Request& request) {
    const auto written = write(stream, request);
    Parser parser;
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());
    parser.header_limit(64 * 1024);
    parser.skip(request.method == "HEAD");
    // The server may have sent an answer that tells why it stopped reading.
    const auto patience = written ? std::min(deadlines_.read, Seconds{1}) : deadlines_.read;
    ErrorCode error;
    within(patience);
    detail::beast_http::read_header(stream, buffer_, parser, error);
    check("sending", error ? written : ErrorCode{});
    check("waiting for the answer", error);
    auto response = head_of(parser);
    if (request.method != "HEAD") read_body(stream, parser, request, response);
    keep_ = !written && parser.keep_alive();
    return response;
  }

  template <class Stream>
  ErrorCode write(Stream& stream, const Request& request) {
    namespace beast_http = detail::beast_http;
    beast_http::request<detail::PiecesBody> message;
    message.version(11);
    message.method_string(request.method);
    message.target(request.url.target);
    message.set(beast_http::field::host, request.url.authority());
    message.set(beast_http::field::user_agent, "seqtrain");
    for (const auto& header : request.headers) {
      const bool one_line = header.value.find_first_of("\r\n") == std::string::npos;
      if (!one_line) throw InputError{"a line break in the value of " + header.name};
      message.set(header.name, header.value);
    }
    for (const auto& piece : request.body) message.body().emplace_back(piece.data(), piece.size());
    if (request.method != "GET" || !request.body.empty()) message.prepare_payload();
    beast_http::serializer<true, detail::PiecesBody> serializer{message};
    ErrorCode error;
    while (!error && !serializer.is_done()) {
      within(deadlines_.write);
      beast_http::write_some(stream, serializer, error);
    }
    return error;
  }

  static Response head_of(const Parser& parser) {
    Response response{static_cast<int>(parser.get().result_int())};
    for (const auto& field : parser.get()) {
      response.headers.push_back({std::string{field.name_string()}, std::string{field.value()}});
    }
    return response;
  }

  /// Moves a successful body of known length from the socket to the sink without another copy.
  template <class Stream>
  void read_body(Stream& stream, Parser& parser, const Request& request, Response& response) {
    const bool streamed = request.sink && (response.status == 200 || response.status == 206);
    const auto length = parser.content_length();
    if (length) refuse_if_longer(*length, request.max_answer);
    if (streamed && request.before_body) request.before_body(response);
    if (streamed && length && !parser.chunked()) return stream_body(stream, *length, request.sink);
    const auto keep = [&response](std::span<const std::byte> bytes) {
      response.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    parse_body(stream, parser, request.max_answer, streamed ? request.sink : BodySink{keep});
  }

  template <class Stream>
  void stream_body(Stream& stream, std::uint64_t left, const BodySink& sink) {
    std::vector<std::byte> piece(std::min<std::uint64_t>(left, std::size_t{256} << 10));
    const auto early = std::min<std::uint64_t>(left, buffer_.size());
    if (early > 0) sink({static_cast<const std::byte*>(buffer_.data().data()), early});
    buffer_.consume(early);
    for (left -= early; left > 0;) {
      const auto room = std::min<std::uint64_t>(left, piece.size());
      ErrorCode error;
      within(deadlines_.read);
      const auto got = stream.read_some(detail::asio::buffer(piece.data(), room), error);
      check("reading the answer", error);
      sink(std::span{piece}.first(got));
      left -= got;
    }
  }

  template <class Stream>
  void parse_body(Stream& stream, Parser& parser, std::uint64_t limit, const BodySink& sink) {
    std::vector<std::byte> piece(std::size_t{16} << 10);
    buffer_.reserve(piece.size());  // Each read asks for as many bytes as the buffer holds.
    std::uint64_t total = 0;
    while (!parser.is_done()) {
      auto& body = parser.get().body();
      body.data = piece.data();
      body.size = piece.size();
      ErrorCode error;
      within(deadlines_.read);
      detail::beast_http::read_some(stream, buffer_, parser, error);
      if (error == detail::beast_http::error::need_buffer) error = {};
      check("reading the answer", error);
      const auto got = std::span{piece}.first(piece.size() - body.size);
      total += got.size();
      refuse_if_longer(total, limit);
      sink(got);
    }
  }

  void refuse_if_longer(std::uint64_t size, std::uint64_t limit) const {
    if (size <= limit) return;
    throw TrustError{"the answer is longer than " + std::to_string(limit) + " bytes",
                     {.object = origin_.origin()}};
  }

  Url origin_;
  std::optional<Url> proxy_;
  Deadlines deadlines_;
  Clock::time_point end_;
  detail::asio::io_context io_{1};
  Tls stream_;
  detail::beast::flat_buffer buffer_;
  bool connected_ = false;
  bool keep_ = false;
};

}  // namespace seqtrain::http
