#pragma once

#include <string>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/errors.hpp>
#include <seqtrain/hub/name.hpp>

namespace seqtrain::hub {

/// Sends a request and repeats it until its answer has a status that another attempt would not
/// change, or the time of `RetryPolicy` is over. Returns the last answer, whatever its status. Only
/// the waits between attempts count as time, because one attempt may send a large file. The request
/// must be safe to repeat, because its answer can be lost. Throws `Unavailable` with the place
/// `where` if there is no answer. Redirects to other hosts are followed only if `elsewhere` is set.
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

/// Returns the answer to a request about a repository. Throws an error of `Failure` unless the
/// answer's status is a success.
[[nodiscard]] inline http::Response demand(const Client& client, const Name& name,
                                           const http::Request& request) {
  auto answer = ask(client, request, {.object = name.text()});
  if (!answer.succeeded()) Failure{client.settings(), name}.raise(answer);
  return answer;
}

/// Returns `read(root)` of an answer in JSON. Throws `Unavailable` if the answer cannot come from a
/// hub: the text is not JSON, or `read` throws `InputError`.
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
