#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/http/attempt.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timing.hpp>

namespace seqtrain::http {

/// The calls of a storage service: a request is repeated if that may help, and can be cancelled.
/// `Service` derives from this class. It has `options()` with `retry`, `timing`
/// and `log`; `exchange(request, operation)`, which sends a request; `repeats(response)`, which
/// tells as `reason_to_repeat` whether another attempt may help; and `fail(response, operation)`
/// and `give_up(error, operation)`, which throw. `Operation` has `place()`, which messages name.
template <class Service, class Operation>
class Calls {
 public:
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  /// Makes running requests end soon with an `Error`, and later ones at once. Any thread may call
  /// it.
  void cancel() noexcept { stop_.request_stop(); }

  /// Returns the waits between the attempts of an operation.
  [[nodiscard]] Retry retry(const Operation& operation) const {
    const auto& options = self().options();
    return {options.retry, options.timing, options.log, operation.place()};
  }

  /// Sends a request until an answer comes that needs no other attempt, whatever its status. Sets
  /// `repeated`, if given, to true if an earlier attempt may have been carried out.
  Response call(const Request& request, const Operation& operation, bool* repeated = nullptr) {
    auto attempts = retry(operation);
    while (true) {
      auto response = attempt(attempts, request, operation);
      if (repeated != nullptr) *repeated = attempts.attempts() > 0;
      if (response) return *std::move(response);
    }
  }

  /// Makes one attempt. Returns nothing if it failed and the wait before the next one is over.
  /// Throws if no more attempts are allowed.
  std::optional<Response> attempt(Retry& attempts, const Request& request,
                                  const Operation& operation) {
    throw_if_cancelled(operation);
    return http::attempt(
        attempts, self().options().timing, [&] { return self().exchange(request, operation); },
        [&](const Response& response) { return self().repeats(response); },
        [&](const Response& response) {
          throw_if_cancelled(operation);
          self().fail(response, operation);
        },
        [&](const TransportError& error) {
          throw_if_cancelled(operation);
          self().give_up(error, operation);
        });
  }

  /// Reads `size` bytes from `offset` on into `sink`. After a broken connection it continues at the
  /// byte that it had reached. range(begin, end, into) returns the request for a range, whose bytes
  /// go to `into`, and refuse(response) throws if an answer is not one with bytes. Throws
  /// `TrustError` if another range comes.
  template <class Range, class Refuse>
  void read(const Operation& operation, std::uint64_t offset, std::uint64_t size,
            const BodySink& sink, const Range& range, const Refuse& refuse) {
    const Where where{.object = operation.place()};
    auto attempts = retry(operation);
    const auto end = offset + size;
    const auto counting = [&](std::span<const std::byte> bytes) {
      sink(bytes);
      offset += bytes.size();
      attempts.progressed();
    };
    while (offset < end) {
      const auto before = offset;
      const auto response = attempt(attempts, range(offset, end, counting), operation);
      if (!response) continue;
      refuse(*response);
      if (!has_range(*response, before, end)) {
        throw TrustError{"the service sent another range than was asked for", where};
      }
      if (offset < end && !attempts.wait("the answer is too short")) {
        throw Error{"the service's answers are too short", where};
      }
    }
  }

 protected:
  Calls() = default;
  ~Calls() = default;

  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

 private:
  [[nodiscard]] Service& self() { return static_cast<Service&>(*this); }
  [[nodiscard]] const Service& self() const { return static_cast<const Service&>(*this); }

  static bool has_range(const Response& response, std::uint64_t begin, std::uint64_t end) {
    const auto range = response.find("Content-Range").value_or("");
    const auto wanted = "bytes " + std::to_string(begin) + "-";
    const bool whole = response.status == 200 && begin == 0;
    return whole || (response.status == 206 && range.starts_with(wanted) && end > begin);
  }

  void throw_if_cancelled(const Operation& operation) const {
    if (stop_.stop_requested()) throw Error{"was cancelled", {.object = operation.place()}};
  }

  std::stop_source stop_;
};

}  // namespace seqtrain::http
