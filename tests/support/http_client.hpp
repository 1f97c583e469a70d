#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace seqtrain::tests {

/// A response as a client reads it.
struct Reply {
  int status = 0;  ///< 0: the server closed the connection without one
  std::map<std::string, std::string> headers = {};
  std::string body = {};
};

/// A client on a socket, which sends any bytes.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port) : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (socket_ < 0 ||
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      const int reason = errno;
      close();
      throw std::system_error{reason, std::generic_category(), "connect"};
    }
  }
  HttpClient(HttpClient&& other) noexcept
      : socket_{std::exchange(other.socket_, -1)}, received_{std::move(other.received_)} {}
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient() { close(); }

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }

  /// Closes so that the server gets a reset.
  void reset() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }

  /// Sends all bytes. Returns false if the server takes no more.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Waits until the other side's kernel has all that was sent. There must be room for it.
  void await_arrival() const {
    const auto is_on_its_way = [this] {
      int bytes = 0;
      return ::ioctl(socket_, SIOCOUTQ, &bytes) == 0 && bytes > 0;
    };
    while (is_on_its_way()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

  /// Reads the next response. If `head` is set, it has no body, like the response to HEAD.
  Reply read(bool head = false) {
    Reply reply;
    const std::string top = until("\r\n\r\n");
    if (top.empty()) return reply;
    reply.status = std::atoi(top.c_str() + top.find(' ') + 1);
    for (std::size_t begin = top.find("\r\n") + 2; begin < top.size() - 2;) {
      const auto end = top.find("\r\n", begin);
      const auto colon = top.find(": ", begin);
      reply.headers[top.substr(begin, colon - begin)] = top.substr(colon + 2, end - colon - 2);
      begin = end + 2;
    }
    const auto length = reply.headers.find("Content-Length");
    if (length == reply.headers.end() || head) return reply;
    const auto size = static_cast<std::size_t>(std::stoul(length->second));
    while (received_.size() < size && receive()) {
    }
    reply.body = received_.substr(0, size);
    received_.erase(0, size);
    return reply;
  }

  Reply post(const std::string& target, std::string_view body, const std::string& headers = "") {
    send("POST " + target + " HTTP/1.1\r\nHost: x\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string{body});
    return read();
  }

  Reply get(const std::string& target) {
    send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return read();
  }

  /// Waits until the server sends something or closes the connection. Returns whether it has closed
  /// it.
  bool is_closed() { return received_.empty() && !receive(); }

 private:
  bool receive() {
    char buffer[65536];
    for (;;) {
      const auto size = ::recv(socket_, buffer, sizeof buffer, 0);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return false;
      received_.append(buffer, static_cast<std::size_t>(size));
      return true;
    }
  }

  std::string until(std::string_view mark) {
    for (;;) {
      const auto end = received_.find(mark);
      if (end != std::string::npos) {
        const std::string text = received_.substr(0, end + mark.size());
        received_.erase(0, text.size());
        return text;
      }
      if (!receive()) return {};
    }
  }

  int socket_;
  std::string received_;
};

}  // namespace seqtrain::tests
