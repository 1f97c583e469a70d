#pragma once

#include <optional>
#include <string>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timing.hpp>

namespace seqtrain::http {

/// Returns why another attempt may succeed after an answer, or nothing if the answer is final.
inline std::optional<std::string> reason_to_repeat(const Response& response) {
  if (!is_retryable(response.status)) return {};
  return "status " + std::to_string(response.status);
}

/// Makes one attempt of an operation: `send` returns an answer or throws `TransportError`, and
/// `reason` tells, as `reason_to_repeat`, whether another attempt may help. Returns nothing if the
/// attempt failed and the wait before the next one is over. If no other attempt is allowed, calls
/// `fail` with the answer or `give_up` with the error, which must throw.
template <class Send, class Reason, class Fail, class GiveUp>
std::optional<Response> attempt(Retry& attempts, const Timing& timing, const Send& send,
                                const Reason& reason, const Fail& fail, const GiveUp& give_up) {
  try {
    auto response = send();
    const std::optional<std::string> repeat = reason(response);
    if (!repeat) return response;
    if (!attempts.wait(*repeat, retry_after(response, timing))) fail(response);
  } catch (const TransportError& error) {
    if (!attempts.wait(error.what())) give_up(error);
  }
  return {};
}

/// The services that an identity needs to fetch a secret, such as a token.
struct FetchContext {
  Transport& transport;
  const RetryPolicy& retry;
  const Timing& timing;
  const Log& log;
};

/// Sends a request until an answer comes that needs no other attempt, whatever its status. Throws
/// `Error`, which has only the status and `place`, or `TransportError` if no more attempts are
/// allowed. The log names `what` is asked for.
inline Response ask(const FetchContext& context, const Request& request, const std::string& what,
                    const std::string& place) {
  Retry retry{context.retry, context.timing, context.log, what};
  const auto fail = [&](const Response& response) {
    throw Error{*reason_to_repeat(response), {.object = place}};
  };
  const auto give_up = [](const TransportError&) { throw; };
  while (true) {
    auto response = attempt(
        retry, context.timing, [&] { return context.transport.send(request); }, &reason_to_repeat,
        fail, give_up);
    if (response) return *std::move(response);
  }
}

}  // namespace seqtrain::http
