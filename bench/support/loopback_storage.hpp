#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/http/base64.hpp>

namespace seqtrain::bench {

/// A content of `size` bytes that repeats one random block, so it needs little memory.
class Content {
 public:
  static constexpr std::size_t block_bytes = std::size_t{8} << 20;

  explicit Content(std::uint64_t size) : size_{size}, block_(2 * block_bytes, '\0') {
    std::mt19937_64 random{1};
    for (std::size_t i = 0; i < block_bytes; i += 8) {
      const auto word = random();
      std::memcpy(block_.data() + i, &word, 8);
    }
    std::copy_n(block_.begin(), block_bytes, block_.begin() + block_bytes);
    for (std::uint64_t at = 0; at < size; at += block_bytes) checksum_.update(piece(at));
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] Crc32c checksum() const { return checksum_; }
  /// Returns the bytes from `offset` on, at most a block.
  [[nodiscard]] std::string_view piece(std::uint64_t offset) const {
    const auto count = std::min<std::uint64_t>(block_bytes, size_ - offset);
    return std::string_view{block_}.substr(offset % block_bytes, count);
  }

 private:
  std::uint64_t size_;
  std::string block_;
  Crc32c checksum_;
};

/// A minimal storage service for uploads and downloads: it hashes and discards uploads, and returns
/// `content` for every name. Each connection has a thread.
class LoopbackStorage {
 public:
  explicit LoopbackStorage(const Content& content) : content_{content} {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, length) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, generic, &length) != 0) {
      throw std::runtime_error{"no port"};
    }
    port_ = ntohs(address.sin_port);
  }

  [[nodiscard]] std::string port() const { return std::to_string(port_); }

  /// Serves without end.
  [[noreturn]] void run() {
    while (true) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) continue;
      const int one = 1;
      ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      std::thread{[this, connection] {
        serve(connection);
        ::close(connection);
      }}.detach();
    }
  }

 private:
  struct Object {
    std::uint64_t size = 0;
    Crc32c checksum;
  };

  struct Head {
    std::string text;
    [[nodiscard]] std::string line() const { return text.substr(0, text.find("\r\n")); }
    [[nodiscard]] std::string header(const char* name) const {
      const auto* found = ::strcasestr(text.c_str(), name);
      if (found == nullptr) return {};
      const std::string_view rest{found + std::strlen(name)};
      return std::string{rest.substr(0, rest.find("\r\n"))};
    }
  };

  void serve(int connection) {
    std::vector<char> buffer(std::size_t{256} << 10);
    std::string waiting;
    while (true) {
      std::size_t end;
      while ((end = waiting.find("\r\n\r\n")) == std::string::npos) {
        const auto got = ::recv(connection, buffer.data(), buffer.size(), 0);
        if (got <= 0) return;
        waiting.append(buffer.data(), static_cast<std::size_t>(got));
      }
      const Head head{waiting.substr(0, end + 2)};
      waiting.erase(0, end + 4);
      const auto length = std::strtoull(head.header("\r\nContent-Length: ").c_str(), nullptr, 10);
      Object body;
      const auto take = [&](std::string_view piece) {
        body.size += piece.size();
        body.checksum.update(piece);
      };
      take(std::string_view{waiting}.substr(0, length));
      waiting.erase(0, body.size);
      while (body.size < length) {
        const auto want = std::min<std::uint64_t>(buffer.size(), length - body.size);
        const auto got = ::recv(connection, buffer.data(), want, 0);
        if (got <= 0) return;
        take({buffer.data(), static_cast<std::size_t>(got)});
      }
      if (!answer(connection, head, body)) return;
    }
  }

  bool answer(int connection, const Head& head, const Object& body) {
    const auto line = head.line();
    const auto has = [&](const char* part) { return line.find(part) != std::string::npos; };
    if (has("alt=media")) return send_content(connection, head);
    if (has("upload_id=")) return send(connection, chunk(line, head, body));
    if (has("uploadType=resumable"))
      return send(connection, "200 OK", "Location: " + open() + "\r\n", "{}");
    if (line.starts_with("DELETE")) return send(connection, "204 Gone", "", "");
    return send(connection, "200 OK", "", describe({content_.size(), content_.checksum()}));
  }

  std::string open() {
    return "http://127.0.0.1:" + port() +
           "/upload/storage/v1/b/bucket/o?upload_id=" + std::to_string(++sessions_);
  }

  std::string chunk(const std::string& line, const Head& head, const Object& body) {
    const auto id = line.substr(line.find("upload_id="));
    std::uint64_t first = 0, last = 0, total = 0;
    const auto range = head.header("\r\nContent-Range: ");
    const int read = std::sscanf(range.c_str(), "bytes %lu-%lu/%lu", &first, &last, &total);
    const std::lock_guard lock{mutex_};
    auto& object = objects_[id];
    object.checksum.append(body.checksum, body.size);
    object.size += body.size;
    if (read == 3 && last + 1 == total) return reply("200 OK", "", describe(object));
    return reply("308 More", "Range: bytes=0-" + std::to_string(object.size - 1) + "\r\n", "");
  }

  static std::string describe(const Object& object) {
    return R"({"name": "name", "bucket": "bucket", "generation": "1", "metageneration": "1", "size": ")" +
           std::to_string(object.size) + R"(", "crc32c": ")" +
           http::base64_of(object.checksum.value()) + R"("})";
  }

  bool send_content(int connection, const Head& head) {
    std::uint64_t first = 0, last = content_.size() - 1;
    const bool partial =
        std::sscanf(head.header("\r\nRange: ").c_str(), "bytes=%lu-%lu", &first, &last) >= 1;
    last = std::min(last, content_.size() - 1);
    std::string text = std::string{"HTTP/1.1 "} + (partial ? "206" : "200") +
                       " OK\r\nContent-Length: " + std::to_string(last - first + 1) +
                       "\r\nX-Goog-Generation: 1\r\n";
    if (partial)
      text += "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" +
              std::to_string(content_.size()) + "\r\n";
    text += "X-Goog-Hash: crc32c=" + http::base64_of(content_.checksum().value()) + "\r\n\r\n";
    if (!write(connection, text)) return false;
    for (auto at = first; at <= last;) {
      const auto piece = content_.piece(at).substr(
          0, std::min<std::uint64_t>(std::size_t{1} << 20, last - at + 1));
      if (!write(connection, piece)) return false;
      at += piece.size();
    }
    return true;
  }

  static std::string reply(const std::string& status, const std::string& headers,
                           const std::string& body) {
    return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\n" + headers +
           (status.starts_with("204") ? ""
                                      : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
           "\r\n" + body;
  }
  static bool send(int connection, const std::string& text) { return write(connection, text); }
  static bool send(int connection, const std::string& status, const std::string& headers,
                   const std::string& body) {
    return write(connection, reply(status, headers, body));
  }
  static bool write(int connection, std::string_view text) {
    while (!text.empty()) {
      const auto sent = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  const Content& content_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> sessions_ = 0;
  std::mutex mutex_;
  std::map<std::string, Object> objects_;
};

}  // namespace seqtrain::bench
