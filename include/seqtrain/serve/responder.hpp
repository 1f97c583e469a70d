#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/dispatch.hpp>

#include <seqtrain/serve/connection.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/refusal.hpp>

namespace seqtrain::serve {

/// The way back to the client of one request. Copies are the same way. If all of them are gone
/// without an answer, the client gets status 500. None may outlive the server.
class Responder {
 public:
  explicit Responder(std::shared_ptr<Connection> connection)
      : way_{std::make_shared<Way>(std::move(connection))} {}

  /// Answers. Any thread may call it; only the first answer counts.
  void send(HttpResponse response) const {
    post([response = std::move(response)] { return response; });
  }

  /// Answers with what `make` returns, which the connection's thread calls.
  template <class Make>
  void post(Make make) const {
    const auto connection = std::exchange(way_->connection, {});
    if (!connection) return;
    boost::asio::dispatch(connection->strand(), [connection, make = std::move(make)] {
      if (connection->state_ != Connection::State::handling) return;
      connection->respond(make());
    });
  }

  /// Calls `listener` if the client hangs up before it has its answer. To be called by the
  /// connection's thread.
  void on_hang_up(std::function<void()> listener) const {
    if (way_->connection) way_->connection->on_hang_up_ = std::move(listener);
  }

 private:
  struct Way {
    explicit Way(std::shared_ptr<Connection> to) : connection{std::move(to)} {}
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;
    ~Way() {
      if (!connection) return;
      boost::asio::dispatch(connection->strand(), [to = connection] {
        const Refusal refusal{500, error_type::backend, "the request was not answered"};
        to->respond({.status = 500, .body = error_body(Contract::tei, refusal)});
      });
    }
    std::shared_ptr<Connection> connection;
  };

  std::shared_ptr<Way> way_;
};

inline void Connection::handle(const HttpRequest& request) {
  state_ = State::handling;
  deadline_ = never;
  request_ = {
      .method = request.method, .version = request.version, .keep_alive = request.keep_alive};
  shared_.handler(request, Responder{shared_from_this()});
}

}  // namespace seqtrain::serve
