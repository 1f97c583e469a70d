#pragma once

#include <future>
#include <string>
#include <thread>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>

namespace seqtrain::tests {

/// A proxy that takes one connection and passes all bytes after its CONNECT to a port of this
/// machine, whatever host the request names.
class Tunnel {
 public:
  explicit Tunnel(const std::string& port) : target_{port} {
    thread_ = std::thread{[this] { serve(); }};
  }
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  ~Tunnel() {
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    thread_.join();
  }

  [[nodiscard]] std::string port() const {
    return std::to_string(acceptor_.local_endpoint().port());
  }
  /// Returns the first line of the request. Waits for it, and may be called once.
  [[nodiscard]] std::string asked() { return asked_.get_future().get(); }

 private:
  using Tcp = boost::asio::ip::tcp;

  void serve() {
    boost::system::error_code error;
    Tcp::socket near{io_}, far{io_};
    acceptor_.accept(near, error);
    if (error) return;
    std::string head;
    boost::asio::read_until(near, boost::asio::dynamic_buffer(head), "\r\n\r\n", error);
    asked_.set_value(head.substr(0, head.find("\r\n")));
    boost::asio::connect(far, Tcp::resolver{io_}.resolve("127.0.0.1", target_), error);
    boost::asio::write(near, boost::asio::buffer("HTTP/1.1 200 Go\r\n\r\n", 19), error);
    std::thread back{[&] { pass(far, near); }};
    pass(near, far);
    back.join();
  }

  static void pass(Tcp::socket& from, Tcp::socket& to) {
    boost::system::error_code error;
    char piece[4096];
    while (true) {
      const auto got = from.read_some(boost::asio::buffer(piece), error);
      if (!error) boost::asio::write(to, boost::asio::buffer(piece, got), error);
      if (error) break;
    }
    ::shutdown(from.native_handle(), SHUT_RDWR);
    ::shutdown(to.native_handle(), SHUT_RDWR);
  }

  std::string target_;
  std::promise<std::string> asked_;
  boost::asio::io_context io_;
  Tcp::acceptor acceptor_{io_, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  std::thread thread_;
};

}  // namespace seqtrain::tests
