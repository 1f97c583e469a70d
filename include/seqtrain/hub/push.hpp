#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/http/base64.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/hub/ask.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/errors.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/push_file.hpp>
#include <seqtrain/hub/upload.hpp>

namespace seqtrain::hub {

/// Options of `push_folder`.
struct PushOptions {
  std::string message =
      "Add a model trained with seqtrain";  ///< first line of the commit's message
  bool is_private = false;                  ///< makes a new repository private
  http::Log tell = {};                      ///< receives a line before files are sent
};

namespace detail {

/// Returns the body of the request that asks which files are large: their paths, sizes and first
/// bytes.
inline std::string preupload_question(const std::vector<PushFile>& files) {
  json::Writer body;
  body.begin_object().key("files").begin_array();
  for (const auto& file : files) {
    body.begin_object().member("path", file.path).member("size", file.size);
    const auto content = file.content();
    body.member("sample", http::base64(content.text().substr(0, 512))).end_object();
  }
  return body.end_array().end_object().text();
}

/// The hub's answer about a file to push.
struct UploadMode {
  bool is_large = false;  ///< the file goes to the hub's storage
  bool ignored = false;   ///< the repository's .gitignore leaves it out
  std::string hash = {};  ///< hash of the branch's file at this path; empty if there is none
};
using UploadModes = std::map<std::string, UploadMode, std::less<>>;

inline UploadModes ask_upload_modes(const Client& client, const Name& name,
                                    const std::vector<PushFile>& files) {
  const auto body = preupload_question(files);
  const auto path = api_path(name, "preupload");
  const auto answer = demand(client, name, post_json(client, path, body));
  return read_answer(client, name, answer, [&](const json::Value& root) {
    UploadModes modes;
    for (const auto& one : root.at("files").items()) {
      const auto mode = one.at("uploadMode");
      if (mode.string() != "lfs" && mode.string() != "regular") {
        throw mode.error("expected lfs or regular");
      }
      const auto ignored = one.find("shouldIgnore");
      const auto hash = one.find("oid");
      modes[std::string{one.at("path").string()}] = {
          .is_large = mode.string() == "lfs",
          .ignored = ignored && ignored->boolean(),
          .hash = hash ? std::string{hash->string()} : ""};
    }
    for (const auto& file : files) {
      if (!modes.contains(file.path)) throw root.error("no answer about " + file.path);
    }
    return modes;
  });
}

/// Returns the commit that an answer has under `key`.
inline std::string commit_in(const Client& client, const Name& name, const http::Response& answer,
                             std::string_view key) {
  return read_answer(client, name, answer, [key](const json::Value& root) {
    const auto hash = root.at(key);
    if (!is_commit(hash.string())) throw hash.error("no commit");
    return std::string{hash.string()};
  });
}

/// Returns the newest commit of the branch that the name gives.
inline std::string newest_commit(const Client& client, const Name& name) {
  const auto path = api_path(name, "revision");
  const auto answer = demand(client, name, {.url = client.settings().url(path)});
  return commit_in(client, name, answer, "sha");
}

/// Creates the repository if it is missing.
inline void create_repository(const Client& client, const Name& name, bool is_private) {
  const auto slash = name.id.find('/');
  json::Writer body;
  body.begin_object().member("name", name.id.substr(slash + 1)).member("type", "model");
  if (slash != name.id.npos) body.member("organization", name.id.substr(0, slash));
  if (is_private) body.member("private", true);
  body.end_object();
  const auto request = post_json(client, "/api/repos/create", body.text());
  const auto& [retry, timing, log] = client.options();
  http::Retry attempts{retry, timing, log, name.text()};
  auto answer = ask(client, request, {.object = name.text()});
  while (answer.status == 409 &&
         answer.body.find("operation is in progress") != std::string::npos &&
         attempts.wait("the account creates another repository")) {
    answer = ask(client, request, {.object = name.text()});
  }
  const int status = answer.status;
  if (answer.succeeded() || status == 409) return;
  if (status == 401 || status == 402 || status == 403) {
    try {  // an account that cannot create a repository may be allowed to write to one
      static_cast<void>(newest_commit(client, name));
      return;
    } catch (const InputError&) {  // the repository does not exist
    }
  }
  Failure{client.settings(), name}.raise(answer);
}

inline void tell_size(const PushOptions& options, const Name& name,
                      const std::vector<PushFile>& files) {
  if (!options.tell) return;
  std::uint64_t bytes = 0;
  for (const auto& file : files) bytes += file.size;
  options.tell("Pushing " + std::to_string(files.size()) + " files of " +
               std::to_string((bytes + 500'000) / 1'000'000) + " MB to " + name.text());
}

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

/// Returns the files whose content differs from the branch's file at their path, with hashes. Asks
/// the hub which of them are large. Throws the errors of `Failure`, or `Error` if .gitignore leaves
/// a file out or the repository does not take a file of its size.
[[nodiscard]] inline std::vector<PushFile> changed_files(const Client& client, const Name& name,
                                                         std::vector<PushFile> files) {
  const auto modes = detail::ask_upload_modes(client, name, files);
  std::vector<PushFile> changed;
  for (auto& file : files) {
    const auto& mode = modes.find(file.path)->second;
    const Where where{.object = name.text(), .field = file.path};
    if (mode.ignored) {
      throw Error{"the repository's .gitignore leaves it out", where, "change that on the hub"};
    }
    file.is_large = mode.is_large && file.size > 0;  // the storage does not take empty files
    constexpr std::uint64_t largest = std::uint64_t{64} << 20;
    if (!file.is_large && file.size > largest) {
      throw Error{"is too large for a file without LFS", where,
                  "mention it in the repository's .gitattributes"};
    }
    file.hash = file.compute_hash();
    if (file.hash != mode.hash) changed.push_back(std::move(file));
  }
  return changed;
}

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
  return detail::commit_in(client, name, answer, "commitOid");
}

/// Adds the files below a folder to a model's repository on the hub, in one commit, so that either
/// all of them are there or none. Creates the repository if it is missing. The repository keeps its
/// other files. Sends only the files that the repository lacks, and makes no commit if it has all.
/// Returns the newest commit. The call may be repeated after any error. Throws `NotFound`,
/// `Forbidden`, `Unavailable`, or `Error` with the hub's message.
inline std::string push_folder(const Client& client, const Name& name,
                               const std::filesystem::path& folder,
                               const PushOptions& options = {}) {
  const auto files = files_to_push(folder);
  detail::create_repository(client, name, options.is_private);
  const auto& [retry, timing, log] = client.options();
  http::Retry attempts{retry, timing, log, name.text()};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto parent = detail::newest_commit(client, name);
    const auto changed = changed_files(client, name, files);
    if (changed.empty()) return parent;
    detail::tell_size(options, name, changed);
    upload_large_files(client, name, changed);
    if (const auto commit = commit_files(client, name, changed, options.message, parent)) {
      return *commit;
    }
    attempts.progressed();
    if (!attempts.wait("the branch has a newer commit")) break;
  }
  throw Unavailable{"the hub refuses the commit, because the branch always has a newer one",
                    {.object = name.text()},
                    "push again when nobody else pushes"};
}

}  // namespace seqtrain::hub
