#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <seqtrain/serve/byte_budget.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_head.hpp>
#include <seqtrain/serve/http_message.hpp>

namespace seqtrain::serve {

/// Turns the bytes that a client sends into requests. It knows nothing of sockets.
class HttpReader {
 public:
  /// The most bytes of a request's parts.
  struct Limits {
    std::size_t header = 16384;  ///< also of a trailer, and of the line before a chunk
    std::size_t body = 1572864;
  };

  /// The states in which the reader can stop.
  enum class Step {
    more,      ///< it needs more bytes
    proceed,   ///< the client waits for "100 Continue" before it sends the body
    complete,  ///< `take` returns a request
    refused,   ///< `error` tells why; nothing more can be read
  };

  /// Bodies count against `budget` if there is one. It must outlive the reader.
  explicit HttpReader(Limits limits, ByteBudget* budget = nullptr)
      : limits_{limits}, share_{budget} {}

  /// Parses `bytes`, which begin after the bytes consumed before. Adds the number of bytes that it
  /// consumes to `consumed`. Unless the step is `more`, bytes may be left over.
  Step read(std::string_view bytes, std::size_t& consumed) {
    if (error_) return Step::refused;
    const std::size_t size = bytes.size();
    const bool in_head = !in_body();
    try {
      while (state_ != State::complete && advance(bytes)) {
      }
    } catch (const HttpError& error) {
      error_.emplace(error);
    }
    consumed += size - bytes.size();
    if (error_) return Step::refused;
    if (state_ == State::complete) return Step::complete;
    const bool waits = in_head && in_body() && bytes.empty() && expects_continue_;
    return waits ? Step::proceed : Step::more;
  }

  /// Returns the complete request. Then the reader is ready for the next one.
  HttpRequest take() {
    state_ = State::idle;
    held_ = 0;
    return std::exchange(request_, {});
  }

  /// Tells the budget that the body of the last request is no longer held.
  void release() { share_.set(0); }

  /// Returns whether a part of a request has been read.
  [[nodiscard]] bool in_request() const { return state_ != State::idle; }
  /// Returns whether a request's header has been read and its body is incomplete.
  [[nodiscard]] bool in_body() const { return state_ > State::head && state_ < State::complete; }
  [[nodiscard]] const HttpError& error() const { return *error_; }

 private:
  /// The parts of a request, in their order.
  enum class State { idle, head, length, chunk_line, chunk, chunk_end, trailer, complete };

  /// Consumes a part of the bytes. Returns whether it makes sense to call it again.
  bool advance(std::string_view& bytes) {
    switch (state_) {
      case State::idle:
        return begin(bytes);
      case State::head:
        return read_head(bytes);
      case State::length:
        if (read_data(bytes)) state_ = State::complete;
        return false;
      case State::chunk:
        if (!read_data(bytes)) return false;
        state_ = State::chunk_end;
        return true;
      case State::chunk_end:
        return end_chunk(bytes);
      case State::chunk_line:
        return read_chunk_line(bytes);
      case State::trailer:
        return read_trailer(bytes);
      default:
        return false;
    }
  }

  /// Skips empty lines, because some clients send one after a body.
  bool begin(std::string_view& bytes) {
    bytes.remove_prefix(std::min(bytes.find_first_not_of("\r\n"), bytes.size()));
    if (bytes.empty()) return false;
    state_ = State::head;
    return true;
  }

  /// Returns the number of bytes up to and with the end of the line that begins at `begin`, or 0 if
  /// it has none. Throws if the line ends without a CR.
  static std::size_t line_end(std::string_view bytes, std::size_t begin) {
    const auto end = bytes.find('\n', begin);
    if (end == bytes.npos) return 0;
    if (end == begin || bytes[end - 1] != '\r') {
      throw http_syntax::bad("a line does not end with CR and LF");
    }
    return end + 1;
  }

  /// Returns the size of the lines up to and with the first empty one, or 0 if it is not there yet.
  std::size_t lines_end(std::string_view bytes) {
    for (;;) {
      const auto end = line_end(bytes, line_);
      if (end == 0) return 0;
      if (end > limits_.header) throw header_too_large();
      const bool empty = end == line_ + 2;
      line_ = empty ? 0 : end;
      if (empty) return end;
    }
  }

  bool read_head(std::string_view& bytes) {
    const auto end = lines_end(bytes);
    if (end == 0) {
      // What is no HTTP is refused at its first line, without waiting for an end of its header.
      const auto line = bytes.substr(0, bytes.find("\r\n"));
      if (HttpHead head; line.size() < bytes.size()) http_syntax::parse_first_line(line, head);
      if (!http_syntax::in_token(bytes.front())) throw http_syntax::bad("its method is not a word");
      if (bytes.size() >= limits_.header) throw header_too_large();
      return false;
    }
    start_body(parse_head(bytes.substr(0, end)));
    bytes.remove_prefix(end);
    return state_ != State::complete;
  }

  void start_body(const HttpHead& message) {
    if (message.length > limits_.body) throw body_too_large();
    request_ = {.method = std::string{message.method},
                .target = std::string{message.target},
                .id = usable_id(message["X-Request-Id"]),
                .inference_header = std::string{message["Inference-Header-Content-Length"]},
                .content_type = std::string{message["Content-Type"]},
                .content_encoding = std::string{message["Content-Encoding"]},
                .host = std::string{message["Host"]},
                .origin = std::string{message["Origin"]},
                .fetch_site = std::string{message["Sec-Fetch-Site"]},
                .authorization = std::string{message["Authorization"]},
                .version = message.version,
                .keep_alive = message.keep_alive};
    expects_continue_ = message.expects_continue;
    left_ = static_cast<std::size_t>(message.length);
    expected_ = message.chunked ? 0 : left_;
    state_ = message.chunked ? State::chunk_line : left_ > 0 ? State::length : State::complete;
  }

  /// Appends bytes to the body. Returns whether the body, or the chunk, is complete.
  bool read_data(std::string_view& bytes) {
    const std::size_t size = std::min(left_, bytes.size());
    make_room(size);
    request_.body.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    left_ -= size;
    return left_ == 0;
  }

  /// Makes room for more bytes of the body, at most twice as many as have arrived: a client that
  /// announces a large body and sends nothing gets no memory.
  void make_room(std::size_t more) {
    std::string& body = request_.body;
    const std::size_t needed = body.size() + more;
    if (needed <= held_) return;
    const std::size_t most = expected_ > 0 ? expected_ : limits_.body;
    const std::size_t room = std::clamp(2 * body.size(), needed, std::max(needed, most));
    if (!share_.try_set(room)) {
      throw HttpError{503, error_type::overloaded,
                      "the server holds as many bytes of bodies and answers as it may"};
    }
    held_ = room;
    body.reserve(room);
  }

  bool read_chunk_line(std::string_view& bytes) {
    const auto end = line_end(bytes, 0);
    if (end > limits_.header || (end == 0 && bytes.size() >= limits_.header)) {
      throw header_too_large();
    }
    if (end == 0) return false;
    left_ = chunk_size(bytes.substr(0, end - 2));
    if (left_ > limits_.body - request_.body.size()) throw body_too_large();
    state_ = left_ > 0 ? State::chunk : State::trailer;
    bytes.remove_prefix(end);
    return true;
  }

  /// Reads the line before a chunk: a size in hexadecimal digits and perhaps `;name=value`.
  static std::size_t chunk_size(std::string_view line) {
    std::size_t size = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    const auto rest = line.substr(static_cast<std::size_t>(stop - line.data()));
    const bool extension = http_syntax::trimmed(rest).starts_with(';');
    const bool control =
        std::ranges::any_of(rest, [](char c) { return http_syntax::is_control(c) && c != '\t'; });
    if (error != std::errc{} || control || (!rest.empty() && !extension)) {
      throw http_syntax::bad("a chunk has no size");
    }
    return size;
  }

  bool end_chunk(std::string_view& bytes) {
    if (!std::string_view{"\r\n"}.starts_with(bytes.substr(0, 2))) {
      throw http_syntax::bad("a chunk is longer than its size");
    }
    if (bytes.size() < 2) return false;
    bytes.remove_prefix(2);
    state_ = State::chunk_line;
    return true;
  }

  /// Skips the fields after the last chunk.
  bool read_trailer(std::string_view& bytes) {
    const auto end = lines_end(bytes);
    if (end == 0 && bytes.size() >= limits_.header) throw header_too_large();
    if (end == 0) return false;
    http_syntax::for_each_line(bytes.substr(0, end - 2), [](std::string_view line) {
      static_cast<void>(http_syntax::parse_field(line));
    });
    bytes.remove_prefix(end);
    state_ = State::complete;
    return false;
  }

  /// Returns the id if it is safe in a header and in a log, else "".
  static std::string usable_id(std::string_view id) {
    const bool usable = id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
                          return c > ' ' && c < 0x7f && c != '"' && c != '\\';
                        });
    return usable ? std::string{id} : std::string{};
  }

  [[nodiscard]] HttpError header_too_large() const {
    return {431, error_type::validation,
            "the header is larger than " + std::to_string(limits_.header) + " bytes"};
  }
  [[nodiscard]] HttpError body_too_large() const {
    return too_large("the body is larger than " + std::to_string(limits_.body) + " bytes");
  }

  Limits limits_;
  State state_ = State::idle;
  std::size_t line_ = 0;      // the begin of the line that is incomplete
  std::size_t left_ = 0;      // bytes that are missing in the body or the chunk
  std::size_t expected_ = 0;  // the size of the body, or 0 if it comes in chunks
  std::size_t held_ = 0;      // bytes for which the body has room
  bool expects_continue_ = false;
  HttpRequest request_;
  ByteBudget::Share share_;
  std::optional<HttpError> error_;
};

}  // namespace seqtrain::serve
