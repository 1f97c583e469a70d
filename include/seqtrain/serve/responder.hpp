#pragma once

#include <functional>
#include <memory>
#include <new>
#include <utility>

#include <boost/asio/dispatch.hpp>

#include <seqtrain/serve/http_connection.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>

namespace seqtrain::serve {

/// Sends the answer to the client of one request. Copies refer to that request too. If all of them
/// are destroyed without an answer the client gets status 500. No copy may outlive the server.
class Responder {
 public:
  explicit Responder(std::shared_ptr<HttpConnection> connection)
      : way_{std::make_shared<Way>(std::move(connection))} {}

  /// Sends an answer. Any thread may call it. Only the first answer is sent.
  void send(HttpResponse response) const {
    post([response = std::move(response)]() mutable { return std::move(response); });
  }

  /// Sends the response that `make` returns. The connection's thread calls `make`.
  template <class Make>
  void post(Make make) const {
    const auto connection = std::exchange(way_->connection, {});
    if (!connection) return;
    on_strand(connection, [connection, make = std::move(make)]() mutable {
      if (connection->state_ != HttpConnection::State::handling) return;
      connection->respond(make());
    });
  }

  /// Calls `continuation` on the connection's thread, unless the client has its answer or is gone.
  /// Any thread may call this.
  template <class Continuation>
  void on_connection(Continuation continuation) const {
    const auto connection = way_->connection;
    if (!connection) return;
    on_strand(connection, [connection, continuation = std::move(continuation)]() mutable {
      if (connection->state_ == HttpConnection::State::handling) continuation();
    });
  }

  /// Calls `listener` if the client hangs up before it gets its answer. Only the connection's
  /// thread may call this.
  void on_hang_up(std::function<void()> listener) const {
    if (way_->connection) way_->connection->on_hang_up_ = std::move(listener);
  }

 private:
  struct Way {
    explicit Way(std::shared_ptr<HttpConnection> to) : connection{std::move(to)} {}
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;
    ~Way() {
      if (!connection) return;
      on_strand(connection, [to = connection] {
        to->respond(tei_error({500, error_type::backend, "the request was not answered"}));
      });
    }
    std::shared_ptr<HttpConnection> connection;
  };

  /// Runs a step of a connection on its thread. If there is no memory for that the connection ends.
  template <class Step>
  static void on_strand(const std::shared_ptr<HttpConnection>& connection, Step step) {
    try {
      boost::asio::dispatch(connection->strand(), [connection, step = std::move(step)]() mutable {
        connection->guarded(step);
      });
    } catch (const std::bad_alloc&) {
      connection->expire();
    }
  }

  std::shared_ptr<Way> way_;
};

inline void HttpConnection::handle(HttpRequest&& request) {
  state_ = State::handling;
  deadline_ = never;
  request_ = {
      .method = request.method, .version = request.version, .keep_alive = request.keep_alive};
  const Responder responder{shared_from_this()};
  guarded([&] { shared_.handler(std::move(request), responder); });
}

}  // namespace seqtrain::serve
