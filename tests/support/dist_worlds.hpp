#pragma once

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seqtrain/dist/world.hpp>

namespace seqtrain::tests {

/// A server that listens on a port of the loopback address and never answers.
class Listener {
 public:
  Listener() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets' interface
    ::bind(socket_, generic, size);
    ::listen(socket_, 8);
    ::getsockname(socket_, generic, &size);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(socket_); }

  [[nodiscard]] int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

/// Returns a TCP port of this machine that nobody listens on.
inline int free_port() {
  return Listener{}.port();
}

/// Returns the worlds of `size` processes on this machine, by rank.
inline std::vector<dist::World> local_worlds(int size) {
  std::vector<dist::World> worlds;
  const int port = free_port();
  for (int rank = 0; rank < size; ++rank) {
    worlds.push_back({.rank = rank,
                      .size = size,
                      .local_rank = rank,
                      .local_size = size,
                      .master_host = "127.0.0.1",
                      .master_port = port});
  }
  return worlds;
}

/// Runs `body` for each world on a separate thread. Returns the errors by rank, with an empty
/// string for no error.
inline std::vector<std::string> on_threads(const std::vector<dist::World>& worlds,
                                           const std::function<void(const dist::World&)>& body) {
  std::vector<std::string> errors(worlds.size());
  std::vector<std::thread> threads;
  for (std::size_t place = 0; place < worlds.size(); ++place) {
    threads.emplace_back([&, place] {
      try {
        body(worlds[place]);
      } catch (const std::exception& error) {
        errors[place] = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return errors;
}

}  // namespace seqtrain::tests
