#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>

#include <seqtrain/serve/byte_budget.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/http_reader.hpp>

namespace seqtrain::serve {

/// Runs functions one at a time, in order, on any thread of the server.
using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;
/// A connection's socket, whose functions run on its strand.
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Strand>;

/// The longest times that the steps of a connection may take.
struct HttpTimeouts {
  using Time = std::chrono::steady_clock::duration;
  Time header = std::chrono::seconds{10};
  Time body = std::chrono::seconds{30};
  Time write = std::chrono::seconds{60};
  /// The longest time between two requests. Google's load balancers keep idle connections for 600 s
  /// and expect the server to keep them longer.
  Time idle = std::chrono::seconds{620};
  Time linger = std::chrono::seconds{3};  ///< for a client to read an error while it still sends
};

class Responder;  // see responder.hpp

/// A function that answers requests, at once or later. The connection's thread calls it.
using HttpHandler = std::function<void(HttpRequest&&, const Responder&)>;

/// The connection to one client. It answers one request after the other, even if the client has
/// sent several. All functions run on its strand unless their comments say otherwise.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The data that all connections share.
  struct Shared {
    HttpHandler handler = {};
    HttpReader::Limits limits = {};
    HttpTimeouts timeouts = {};
    /// Called for requests that are refused before the handler sees them.
    std::function<void(const HttpError&)> refused = {};
    std::function<void(HttpConnection&)> closed = {};
    std::atomic<bool> draining = false;
    /// The bytes that all connections hold: bodies that arrive or are handled, and answers.
    ByteBudget budget{std::numeric_limits<std::size_t>::max()};
  };

  HttpConnection(Socket socket, Shared& shared)
      : socket_{std::move(socket)},
        shared_{shared},
        reader_{shared.limits, &shared.budget},
        share_{&shared.budget} {}

  void start() {
    guarded([this] {
      boost::system::error_code ignored;
      socket_.set_option(boost::asio::ip::tcp::no_delay{true}, ignored);
      socket_.non_blocking(true, ignored);
      set_deadline(shared_.timeouts.header);
      idle_since_ = ticks_in({});
      wait_for_bytes();
    });
  }

  /// Tells whether the deadline of the current step has passed. Any thread may call it.
  [[nodiscard]] bool is_late(Time now) const {
    return now.time_since_epoch().count() >= deadline_.load(std::memory_order_relaxed);
  }
  /// Returns the strand of the connection. Any thread may call it.
  [[nodiscard]] Strand strand() { return socket_.get_executor(); }
  /// Returns when the connection began to wait for a request, in ticks of its clock, or `busy` if
  /// it has one. Any thread may call it.
  [[nodiscard]] std::int64_t idle_since() const {
    return idle_since_.load(std::memory_order_relaxed);
  }
  static constexpr std::int64_t busy = std::numeric_limits<std::int64_t>::max();

  /// Makes the connection late. Any thread may call it.
  void expire() { deadline_ = std::numeric_limits<std::int64_t>::min(); }

  /// Ends the connection if it takes too long.
  void on_late(Time now) {
    if (state_ == State::closed || !is_late(now)) return;
    if (state_ != State::reading || !reader_.in_request()) return close();
    const std::string what = reader_.in_body() ? "body" : "header";
    guarded([&] {
      refuse({408, error_type::validation, "the " + what + " took too long to arrive"});
    });
  }

  /// Closes the connection after the answers to all requests that the system has received for it.
  void drain() {
    if (draining_ || state_ == State::closed || state_ == State::lingering) return;
    draining_ = true;
    owed_ = in_.size() - begin_ + available();
    if (state_ != State::reading) return;
    if (served_ && is_idle()) return close();
    deadline_ = std::min(deadline_.load(), ticks_in(shared_.timeouts.linger));
  }

  /// Closes the connection if it waits for a request, to make room for another one.
  void yield() {
    if (is_idle()) close();
  }

  void close() {
    if (state_ == State::closed) return;
    state_ = State::closed;
    deadline_ = never;
    idle_since_ = busy;
    guarded([this] { hang_up(); });
    held_.reset();
    boost::system::error_code ignored;
    socket_.close(ignored);
    shared_.closed(*this);
  }

 private:
  friend class Responder;

  enum class State { reading, handling, writing, lingering, closed };
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  static constexpr std::size_t read_size = 65536;
  /// The bytes that the connection reads at most, about, while it handles a request.
  static constexpr std::size_t read_ahead = 16384;

  static std::int64_t ticks_in(HttpTimeouts::Time time) {
    return (std::chrono::steady_clock::now() + time).time_since_epoch().count();
  }
  void set_deadline(HttpTimeouts::Time time) { deadline_ = ticks_in(time); }
  /// Sets the deadline of a step of reading, which is short if the server is about to stop.
  void set_reading_deadline(HttpTimeouts::Time time) {
    set_deadline(draining_ ? std::min(time, shared_.timeouts.linger) : time);
  }

  /// Runs a step. If it fails, e.g. for lack of memory, the client gets an error or, if that fails
  /// too, is cut off.
  template <class Step>
  void guarded(Step&& step) {
    try {
      return step();
    } catch (const std::exception& error) {
      fail(error);
    }
  }

  void fail(const std::exception& error) {
    try {
      if (state_ == State::reading || state_ == State::handling) return refuse(failure(error));
    } catch (const std::exception&) {  // There is no memory for the answer.
    }
    close();
  }

  /// Returns the number of bytes that the system has received and the connection has not read.
  [[nodiscard]] std::size_t available() const {
    boost::system::error_code ignored;
    return socket_.available(ignored);
  }

  /// Returns whether the connection waits for a request of which nothing has arrived.
  [[nodiscard]] bool is_idle() const {
    return state_ == State::reading && !reader_.in_request() && in_.empty() && available() == 0;
  }

  /// Reads as soon as bytes arrive, even while a request is handled, to notice a client that hangs
  /// up. A connection without unread bytes holds no buffer.
  void wait_for_bytes() {
    if (waiting_ || state_ == State::closed) return;
    const bool ahead = state_ == State::handling || state_ == State::writing;
    if (ahead && (in_.size() - begin_ >= read_ahead || shared_.budget.is_full())) return;
    socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const auto& error) {
      self->waiting_ = false;
      if (error) return self->close();
      self->guarded([&] { self->on_bytes(); });
    });
    waiting_ = true;
  }

  void on_bytes() {
    if (state_ == State::closed) return;
    thread_local std::array<char, read_size> buffer;
    const bool ahead = state_ == State::handling || state_ == State::writing;
    boost::system::error_code error;
    const auto size = socket_.read_some(
        boost::asio::buffer(buffer.data(), ahead ? read_ahead : read_size), error);
    if (error == boost::asio::error::would_block) return wait_for_bytes();
    if (error && state_ == State::writing) {  // the client may still read
      keep_alive_ = false;
      return;
    }
    if (error) return close();  // A client that sends nothing more does not wait for an answer.
    if (state_ == State::lingering) return wait_for_bytes();  // What it still sends does not count.
    std::string_view bytes{buffer.data(), size};
    if (ahead || !in_.empty()) keep(std::exchange(bytes, {}));
    if (state_ == State::reading) advance(bytes);
    wait_for_bytes();
  }

  /// Appends bytes to those that wait to be processed.
  void keep(std::string_view bytes) {
    if (bytes.empty()) return;
    in_.erase(0, std::exchange(begin_, 0));
    in_.append(bytes);
    count_bytes();
  }

  /// Removes bytes that are processed.
  void drop(std::size_t size) {
    begin_ += size;
    if (begin_ < in_.size()) return;
    in_ = {};
    begin_ = 0;
    count_bytes();
  }

  /// Tells the budget what is held: a request is never refused because of that.
  void count_bytes() { share_.set((in_.empty() ? 0 : in_.capacity()) + out_.size()); }

  /// Processes the bytes that wait or, if there are none, `fresh`.
  void advance(std::string_view fresh = {}) {
    const bool first = !reader_.in_request();
    const bool in_header = !reader_.in_body();
    const bool kept = !in_.empty();
    std::size_t used = 0;
    const auto step = reader_.read(kept ? std::string_view{in_}.substr(begin_) : fresh, used);
    owed_ -= std::min(owed_, used);
    if (kept) {
      drop(used);
    } else {
      keep(fresh.substr(used));
    }
    if (reader_.in_request()) idle_since_ = busy;
    using Step = HttpReader::Step;
    if (step == Step::complete) return handle(reader_.take());
    if (step == Step::refused) return refuse(reader_.error());
    if (first && reader_.in_request()) set_reading_deadline(shared_.timeouts.header);
    if (in_header && reader_.in_body()) set_reading_deadline(shared_.timeouts.body);
    if (step == Step::proceed) send_continue();
    if (draining_ && served_ && owed_ == 0 && is_idle()) close();
  }

  /// Sends "100 Continue". The text is short and the socket's buffer is empty, so it is sent whole
  /// or not at all. A client that does not get it sends its body after a short wait.
  void send_continue() {
    boost::system::error_code ignored;
    socket_.write_some(boost::asio::buffer(std::string_view{"HTTP/1.1 100 Continue\r\n\r\n"}),
                       ignored);
  }

  void handle(HttpRequest&& request);

  void refuse(const HttpError& error) {
    shared_.refused(error);
    request_ = {.keep_alive = false};
    state_ = State::handling;
    HttpResponse response = tei_error(error);
    if (response.status == 503) response.headers.emplace_back("Retry-After", "1");
    respond(response);
  }

  void respond(const HttpResponse& response) {
    if (state_ != State::handling) return;
    on_hang_up_ = {};
    if (shared_.draining) drain();
    keep_alive_ = request_.keep_alive && (!draining_ || owed_ > 0);
    out_ = to_wire(response, request_, keep_alive_);
    held_ = response.held;
    reader_.release();
    count_bytes();
    state_ = State::writing;
    served_ = true;
    set_deadline(shared_.timeouts.write);
    boost::asio::async_write(socket_, boost::asio::buffer(out_),
                             [self = shared_from_this()](const auto& error, std::size_t) {
                               if (error) return self->close();
                               self->guarded([&] { self->on_written(); });
                             });
  }

  void on_written() {
    if (state_ == State::closed) return;
    out_ = {};
    held_.reset();
    count_bytes();
    if (!keep_alive_) return linger();
    state_ = State::reading;
    set_reading_deadline(shared_.timeouts.idle);
    idle_since_ = ticks_in({});
    advance();
    wait_for_bytes();
  }

  /// Waits until the client has read the answer. Closing a connection that has unread bytes resets
  /// it, and the client may lose the answer.
  void linger() {
    state_ = State::lingering;
    in_ = {};
    begin_ = 0;
    count_bytes();
    set_deadline(shared_.timeouts.linger);
    boost::system::error_code error;
    socket_.shutdown(Socket::shutdown_send, error);
    if (error) return close();
    wait_for_bytes();
  }

  void hang_up() {
    if (const auto listener = std::exchange(on_hang_up_, {})) listener();
  }

  Socket socket_;
  Shared& shared_;
  HttpReader reader_;
  State state_ = State::reading;
  bool waiting_ = false;
  bool keep_alive_ = true;
  bool served_ = false;
  bool draining_ = false;
  std::string in_;  // bytes received; those before begin_ are processed
  std::size_t begin_ = 0;
  std::size_t owed_ = 0;  // bytes that had arrived when the server began to stop, not yet processed
  std::string out_;
  std::shared_ptr<const void> held_;  // see `HttpResponse`
  ByteBudget::Share share_;           // of in_ and out_
  HttpRequest request_;               // the current request, without its body
  std::function<void()> on_hang_up_;
  std::atomic<std::int64_t> deadline_ = never;
  std::atomic<std::int64_t> idle_since_ = busy;
};

}  // namespace seqtrain::serve
