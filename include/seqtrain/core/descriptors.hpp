#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/system_error.hpp>

namespace seqtrain {

/// A file descriptor that the destructor closes, unless it is negative: nothing was opened.
struct OwnedDescriptor {
  explicit OwnedDescriptor(int opened) : number{opened} {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : number{std::exchange(other.number, -1)} {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~OwnedDescriptor() {
    if (number >= 0) ::close(number);
  }

  int number;
};

/// Reads from a file descriptor, for example stdin's, and does not close it.
class InputDescriptor {
 public:
  /// Reads from the descriptor `number`. Errors call it `name`.
  InputDescriptor(int number, std::string name) : number_{number}, name_{std::move(name)} {}

  /// Waits for bytes and returns how many it has read, which is 0 at the end. Throws `Error` if the
  /// system cannot read.
  [[nodiscard]] std::size_t read(std::span<char> to) const {
    for (;;) {
      const auto count = ::read(number_, to.data(), to.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) throw system_error("cannot be read", name_);
    }
  }

  /// Tells whether `read` would return at once.
  [[nodiscard]] bool ready() const {
    pollfd wanted{.fd = number_, .events = POLLIN, .revents = 0};
    return ::poll(&wanted, 1, 0) > 0;
  }

  /// Returns the size of the file in bytes, or nothing for pipes and terminals.
  [[nodiscard]] std::optional<std::int64_t> size() const {
    struct stat status = {};
    if (::fstat(number_, &status) != 0 || !S_ISREG(status.st_mode)) return {};
    return status.st_size;
  }

 private:
  int number_;
  std::string name_;
};

/// Writes to a file descriptor, for example stdout's, and does not close it.
class OutputDescriptor {
 public:
  /// Writes to the descriptor `number`. Errors call it `name`.
  OutputDescriptor(int number, std::string name) : number_{number}, name_{std::move(name)} {}

  /// Writes all of `text`. Returns false if the reader has closed its end, as `head` does after its
  /// last line. Throws `Error` if the system cannot write.
  [[nodiscard]] bool write(std::string_view text) const {
    while (!text.empty()) {
      const auto count = ::write(number_, text.data(), text.size());
      if (count >= 0) {
        text.remove_prefix(static_cast<std::size_t>(count));
      } else if (errno == EPIPE) {
        return false;
      } else if (errno == EAGAIN) {
        pollfd wanted{.fd = number_, .events = POLLOUT, .revents = 0};
        ::poll(&wanted, 1, -1);
      } else if (errno != EINTR) {
        throw system_error("cannot be written", name_);
      }
    }
    return true;
  }

 private:
  int number_;
  std::string name_;
};

}  // namespace seqtrain
