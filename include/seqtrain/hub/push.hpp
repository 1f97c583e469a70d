#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/http/retry.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/hub/ask.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/commit.hpp>
#include <seqtrain/hub/errors.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/preupload.hpp>
#include <seqtrain/hub/push_file.hpp>
#include <seqtrain/hub/upload.hpp>

namespace seqtrain::hub {

struct PushOptions {
  std::string message =
      "Add a model trained with seqtrain";  ///< first line of the commit's message
  bool is_private = false;                  ///< makes a new repository private
  http::Log tell = {};                      ///< receives a line before files are sent
};

namespace detail {

/// Returns the newest commit of the branch that the name gives.
inline std::string newest_commit(const Client& client, const Name& name) {
  const auto path = api_path(name, "revision");
  const auto answer = demand(client, name, {.url = client.settings().url(path)});
  return read_answer(client, name, answer, [](const json::Value& root) {
    const auto hash = root.at("sha");
    if (!is_commit(hash.string())) throw hash.error("no commit");
    return std::string{hash.string()};
  });
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

}  // namespace detail

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
