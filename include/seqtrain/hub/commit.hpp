#pragma once

#include <optional>
#include <string>
#include <vector>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/http/base64.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/hub/ask.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/errors.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/push_file.hpp>

namespace seqtrain::hub {

namespace detail {

inline std::string commit_header(const std::string& message, const std::string& parent) {
  json::Writer line;
  line.begin_object().member("key", "header").key("value").begin_object();
  line.member("summary", message).member("description", "").member("parentCommit", parent);
  return line.end_object().end_object().text() + "\n";
}

inline std::string commit_line(const PushFile& file) {
  json::Writer line;
  line.begin_object().member("key", file.is_large ? "lfsFile" : "file").key("value");
  line.begin_object().member("path", file.path);
  if (file.is_large) {
    line.member("algo", "sha256").member("oid", file.hash).member("size", file.size);
  } else {
    line.member("encoding", "base64").member("content", http::base64(file.content().text()));
  }
  return line.end_object().end_object().text() + "\n";
}

}  // namespace detail

/// Makes a commit that adds files to a branch whose newest commit is `parent`. The hub's storage
/// must already have the large files. Returns the commit's hash, or nothing if the hub refuses
/// because the branch has another newest commit. That commit may be somebody else's, or this one if
/// an earlier answer was lost. Throws the errors of `Failure`.
[[nodiscard]] inline std::optional<std::string> commit_files(const Client& client, const Name& name,
                                                             const std::vector<PushFile>& files,
                                                             const std::string& message,
                                                             const std::string& parent) {
  auto body = detail::commit_header(message, parent);
  for (const auto& file : files) body += detail::commit_line(file);
  const auto path = api_path(name, "commit");
  auto request = post_json(client, path, body);
  request.headers = {{"Content-Type", "application/x-ndjson"}};
  const auto answer = ask(client, request, {.object = name.text()});
  if (answer.status == 409 || answer.status == 412) return {};
  if (!answer.succeeded()) Failure{client.settings(), name}.raise(answer);
  return read_answer(client, name, answer, [](const json::Value& root) {
    const auto hash = root.at("commitOid");
    if (!is_commit(hash.string())) throw hash.error("no commit");
    return std::string{hash.string()};
  });
}

}  // namespace seqtrain::hub
