#pragma once

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/address.hpp>

namespace seqtrain::dist {

namespace detail {

/// Tells whether a server at a TCP address accepts a connection within two seconds.
inline bool takes_connection(const Resolved& target) {
  const OwnedDescriptor socket{
      ::socket(target.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (socket.number < 0) return false;
  int error = ::connect(socket.number, target.get(), target.size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd entry{.fd = socket.number, .events = POLLOUT, .revents = 0};
    socklen_t size = sizeof error;
    if (::poll(&entry, 1, 2000) == 1)
      ::getsockopt(socket.number, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  return error == 0;
}

}  // namespace detail

/// Waits until the master's name resolves and a server accepts connections at its port. A machine
/// that starts at the same time may need a while for both. Throws `InputError` with the cause if
/// the deadline passes.
inline void wait_for_server(const std::string& host, int port,
                            std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const bool last = std::chrono::steady_clock::now() >= deadline;
    try {
      for (const auto& target : detail::resolve(host, port)) {
        if (detail::takes_connection(target)) return;
      }
      if (last) {
        throw InputError{"nothing answers there",
                         {.object = host + ":" + std::to_string(port)},
                         "check that rank 0 runs and that this host reaches its address and port"};
      }
    } catch (const InputError&) {
      if (last) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
}

}  // namespace seqtrain::dist
