#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/retry.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/errors.hpp>
#include <seqtrain/hub/name.hpp>

namespace seqtrain::hub {

/// Sends a request, also one that writes, until its answer has a status that another attempt would
/// not change, or time is up by the rules of `RetryPolicy`. Returns the last answer, whatever its
/// status. Only waits count as time, because one attempt may send a large file. The request must
/// bear to be repeated: an answer can be lost. Throws `Unavailable` if there is no answer. `where`
/// is the place of that error. Redirects to other hosts are followed only if `elsewhere` is set.
[[nodiscard]] inline http::Response ask(const Client& client, const http::Request& request,
                                        const Where& where, bool elsewhere = false) {
  const auto& options = client.options();
  const auto what = where.object + (where.field.empty() ? "" : ": " + where.field);
  http::Retry attempts{options.retry, options.timing, options.log, what};
  while (true) {
    const auto begin = options.timing.now();
    try {
      auto answer = client.sender().send(request, elsewhere).response;
      if (!http::is_retryable(answer.status)) return answer;
      attempts.allow(options.timing.now() - begin);
      const auto reason = "status " + std::to_string(answer.status);
      if (!attempts.wait(reason, http::retry_after(answer, options.timing))) return answer;
    } catch (const http::TransportError& error) {
      attempts.allow(options.timing.now() - begin);
      if (attempts.wait(error.what())) continue;
      throw Unavailable{std::string{"the hub cannot be reached: "} + error.what(), where};
    }
  }
}

/// Returns a request that posts JSON to a path of the hub. `body` must outlive it.
[[nodiscard]] inline http::Request post_json(const Client& client, const std::string& path,
                                             const std::string& body) {
  return {.method = "POST",
          .url = client.settings().url(path),
          .headers = {{"Content-Type", "application/json"}},
          .body = {http::bytes_of(body)}};
}

/// Returns the answer to a request about a repository. Throws the errors of `Failure` if its status
/// is not that of a success.
[[nodiscard]] inline http::Response demand(const Client& client, const Name& name,
                                           const http::Request& request) {
  auto answer = ask(client, request, {.object = name.text()});
  if (!answer.succeeded()) Failure{client.settings(), name}.raise(answer);
  return answer;
}

/// Returns `read(root)` of an answer in JSON. Throws `Unavailable` if a hub would not answer so:
/// the text is no JSON, or `read` throws `InputError`.
template <class Read>
auto read_answer(const Client& client, const Name& name, const http::Response& answer,
                 const Read& read) {
  try {
    const auto document = json::Document::parse(answer.body, "answer");
    return read(document.root());
  } catch (const InputError& error) {
    throw not_a_hub(client.settings(), {.object = name.text()}, error.what());
  }
}

}  // namespace seqtrain::hub
