#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/http/base64.hpp>
#include <seqtrain/hub/ask.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/push_file.hpp>

namespace seqtrain::hub {

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

}  // namespace seqtrain::hub
