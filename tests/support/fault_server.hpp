#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <limits>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <sys/socket.h>

#include "support/fake_storage.hpp"

namespace seqtrain::tests {

/// A fault of a connection.
struct Fault {
  enum Kind {
    answer,        ///< the request has no effect; `response` is the answer
    lose_answer,   ///< the request takes effect, then the connection is closed
    reset_early,   ///< a reset after `bytes` of the request's body; no effect
    cut_answer,    ///< the request takes effect, half of the answer is sent, then a reset
    stall,         ///< the request takes effect, and nothing is sent
    stall_within,  ///< the request takes effect, half of the answer is sent, then nothing
    endless,       ///< an answer without an end
    chunked,       ///< the request takes effect, and the answer comes in chunks
    /// The request takes effect twice, as if it came twice; the second answer is sent.
    twice,
  };
  Kind kind;
  std::string method = {};    ///< the method; empty for any
  std::string contains = {};  ///< a text in the target or in the range; empty for any
  int skip = 0;               ///< number of matching requests that pass before
  int times = 1;
  http::Response response = {};
  std::size_t bytes = 0;
};

/// A service on a port of this machine, in this process, with scripted faults. `Service` answers
/// requests by `handle`.
template <class Service>
class FaultyServer {
 public:
  /// Speaks TLS if a context is given.
  explicit FaultyServer(boost::asio::ssl::context* tls = nullptr) : tls_{tls} {
    listener_ = std::thread{[this] { listen(); }};
  }
  FaultyServer(const FaultyServer&) = delete;
  FaultyServer& operator=(const FaultyServer&) = delete;
  ~FaultyServer() {
    {
      const std::lock_guard lock{mutex_};
      stopping_ = true;
      ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
      for (auto& socket : sockets_) ::shutdown(socket.native_handle(), SHUT_RDWR);
    }
    stopped_.notify_all();
    listener_.join();
    for (auto& thread : threads_) thread.join();
  }

  void script(Fault fault) {
    const std::lock_guard lock{mutex_};
    faults_.push_back(std::move(fault));
  }

  [[nodiscard]] std::string port() const {
    return std::to_string(acceptor_.local_endpoint().port());
  }
  /// Returns the number of requests so far whose first line contains `text`.
  [[nodiscard]] int count(std::string_view text) {
    const std::lock_guard lock{mutex_};
    int count = 0;
    for (const auto& line : lines_) count += line.find(text) != std::string::npos ? 1 : 0;
    return count;
  }
  [[nodiscard]] int connections() const { return connections_; }
  /// Returns the tokens of the requests.
  [[nodiscard]] std::vector<std::string> authorizations() {
    const std::lock_guard lock{mutex_};
    return authorizations_;
  }

  Service service;

 private:
  using Tcp = boost::asio::ip::tcp;

  void listen() {
    while (true) {
      boost::system::error_code error;
      Tcp::socket socket{io_};
      acceptor_.accept(socket, error);
      const std::lock_guard lock{mutex_};
      if (stopping_ || error) return;
      ++connections_;
      sockets_.push_back(std::move(socket));
      threads_.emplace_back([this, &one = sockets_.back()] { serve(one); });
    }
  }

  void serve(Tcp::socket& socket) {
    try {
      if (tls_ == nullptr) {
        while (exchange(socket, socket)) {
        }
      } else {
        boost::asio::ssl::stream<Tcp::socket&> stream{socket, *tls_};
        stream.handshake(boost::asio::ssl::stream_base::server);
        while (exchange(stream, socket)) {
        }
      }
    } catch (const boost::system::system_error&) {  // the far end is gone
    }
    ::shutdown(socket.native_handle(), SHUT_RDWR);
  }

  /// Handles one request. Returns false if the connection must not be used any more.
  template <class Stream>
  bool exchange(Stream& stream, Tcp::socket& socket) {
    namespace http = boost::beast::http;
    boost::beast::flat_buffer buffer;
    http::request_parser<http::string_body> parser;
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());
    http::read_header(stream, buffer, parser);
    const auto fault = next_fault(head_of(parser.get()));
    if (fault && fault->kind == Fault::reset_early)
      return reset_early(stream, socket, buffer, parser, *fault);
    http::read(stream, buffer, parser);
    auto request = head_of(parser.get());
    request.body = std::move(parser.get().body());
    if (fault) return misbehave(stream, socket, request, *fault);
    return send(stream, service.handle(request), request.method == "HEAD");
  }

  template <class Message>
  static ServerRequest head_of(const Message& message) {
    ServerRequest request{
        std::string{message.method_string()}, std::string{message.target()}, {}, {}};
    for (const auto& field : message) {
      request.headers.push_back({std::string{field.name_string()}, std::string{field.value()}});
    }
    return request;
  }

  std::optional<Fault> next_fault(const ServerRequest& request) {
    const std::lock_guard lock{mutex_};
    lines_.push_back(request.method + " " + request.target + " " + request.header("Content-Range") +
                     request.header("Range"));
    authorizations_.push_back(request.header("Authorization"));
    for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
      if (!fault->method.empty() && fault->method != request.method) continue;
      if (lines_.back().find(fault->contains) == std::string::npos) continue;
      if (fault->skip-- > 0) continue;
      auto found = *fault;
      if (--fault->times == 0) faults_.erase(fault);
      return found;
    }
    return {};
  }

  template <class Stream, class Parser>
  bool reset_early(Stream& stream, Tcp::socket& socket, boost::beast::flat_buffer& buffer,
                   Parser& parser, const Fault& fault) {
    while (!parser.is_done() && parser.get().body().size() < fault.bytes) {
      boost::beast::http::read_some(stream, buffer, parser);
    }
    return reset(socket);
  }

  bool reset(Tcp::socket& socket) {
    const std::lock_guard lock{mutex_};
    socket.set_option(boost::asio::socket_base::linger{true, 0});
    socket.close();
    return false;
  }

  template <class Stream>
  bool misbehave(Stream& stream, Tcp::socket& socket, const ServerRequest& request,
                 const Fault& fault) {
    if (fault.kind == Fault::answer) return send(stream, fault.response);
    if (fault.kind == Fault::endless) return send_endlessly(stream);
    if (fault.kind == Fault::twice) service.handle(request);
    const auto answer = service.handle(request);
    const auto text = text_of(answer);
    switch (fault.kind) {
      case Fault::cut_answer:
        write(stream, text.substr(0, text.size() / 2));
        return reset(socket);
      case Fault::stall_within:
        write(stream, text.substr(0, text.size() / 2));
        [[fallthrough]];
      case Fault::stall:
        return wait_for_the_end();
      case Fault::chunked:
        return send_in_chunks(stream, answer);
      case Fault::twice:
        return send(stream, answer);
      default:
        return false;
    }
  }

  bool wait_for_the_end() {
    std::unique_lock lock{mutex_};
    stopped_.wait(lock, [this] { return stopping_; });
    return false;
  }

  static std::string head_text(const http::Response& answer) {
    auto text = "HTTP/1.1 " + std::to_string(answer.status) + " Said\r\n";
    for (const auto& header : answer.headers) text += header.name + ": " + header.value + "\r\n";
    return text;
  }
  static std::string text_of(const http::Response& answer) {
    const auto length = answer.status == 204
                            ? ""
                            : "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
    return head_text(answer) + length + "\r\n" + answer.body;
  }

  template <class Stream>
  static void write(Stream& stream, std::string_view text) {
    boost::asio::write(stream, boost::asio::buffer(text.data(), text.size()));
  }

  template <class Stream>
  static bool send(Stream& stream, const http::Response& answer, bool head_only = false) {
    const auto text = text_of(answer);
    write(stream, head_only ? text.substr(0, text.size() - answer.body.size()) : text);
    return true;
  }

  template <class Stream>
  static bool send_in_chunks(Stream& stream, const http::Response& answer) {
    auto text = head_text(answer) + "Transfer-Encoding: chunked\r\n\r\n";
    char size[32];
    for (std::size_t i = 0; i < answer.body.size(); i += 1000) {
      const auto piece = answer.body.substr(i, 1000);
      std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
      text += size + piece + "\r\n";
    }
    write(stream, text + "0\r\n\r\n");
    return true;
  }

  template <class Stream>
  static bool send_endlessly(Stream& stream) {
    write(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
    const std::string piece(100'000, ' ');
    while (true) write(stream, piece);  // ends by an exception when the far end has had enough
  }

  boost::asio::ssl::context* tls_;
  boost::asio::io_context io_;
  Tcp::acceptor acceptor_{io_, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::list<Fault> faults_;
  std::vector<std::string> lines_;
  std::vector<std::string> authorizations_;
  std::list<Tcp::socket> sockets_;
  std::list<std::thread> threads_;
  std::atomic<int> connections_ = 0;
  std::thread listener_;
};

/// A storage service with faults.
class FaultServer : public FaultyServer<FakeStorage> {
 public:
  using FaultyServer::FaultyServer;

  FakeStorage& storage = service;
};

}  // namespace seqtrain::tests
