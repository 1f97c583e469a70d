#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/http/message.hpp>

namespace seqtrain::tests {

/// Answers requests by a function, without a network.
class FakeTransport final : public http::Transport {
 public:
  struct Seen {
    std::string method;
    std::string origin;
    std::string target;
    std::vector<http::Header> headers;
    std::string body;

    [[nodiscard]] std::string header(std::string_view name) const {
      return http::Response{0, headers, {}}.find(name).value_or("");
    }
  };
  using Handler = std::function<http::Response(const Seen&)>;

  explicit FakeTransport(Handler handler) : handler_{std::move(handler)} {}

  http::Response send(const http::Request& request) override {
    Seen seen{request.method, request.url.origin(), request.url.target, request.headers, {}};
    for (const auto& piece : request.body) {
      seen.body.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    }
    {
      const std::lock_guard lock{mutex_};
      seen_.push_back(seen);
    }
    auto response = handler_(seen);
    if (request.sink && (response.status == 200 || response.status == 206)) {
      if (request.before_body) request.before_body(response);
      request.sink(http::bytes_of(response.body));
      response.body.clear();
    }
    return response;
  }

  [[nodiscard]] std::vector<Seen> seen() {
    const std::lock_guard lock{mutex_};
    return seen_;
  }

 private:
  Handler handler_;
  std::mutex mutex_;
  std::vector<Seen> seen_;
};

}  // namespace seqtrain::tests
