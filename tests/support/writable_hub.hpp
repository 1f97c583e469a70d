#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>

#include "support/fake_hub.hpp"

namespace seqtrain::tests {

inline std::string base64_decoded(const std::string& text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                  reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  for (auto end = text.size(); end > 0 && text[end - 1] == '='; --end) bytes.pop_back();
  return bytes;
}

/// A hub that accepts writes: accounts, new repositories, LFS transfers in one request or in parts,
/// commits. An account is `me`, a member of `org`; its token is `hf_write`. Large files are those
/// named `*.safetensors` and `*.bin`.
class WritableHub : public FakeHub {
 public:
  /// Contents of at least this size are sent in parts of half that size.
  std::size_t part_from = std::size_t{1} << 30;
  std::set<std::string> owners{"me", "org"};
  std::string role = "write";
  bool verifies = true;  ///< asks the client to verify each upload

  http::Response handle(const ServerRequest& request) {
    const std::lock_guard lock{writing_};
    const auto& target = request.target;
    if (target == "/api/whoami-v2") return who(request);
    if (request.method != "POST") return FakeHub::handle(request);
    if (!has_token(request)) return refusal(401, "Invalid username or password.");
    if (target == "/api/repos/create") return create(request);
    if (target.starts_with("/api/complete?")) return complete(request);
    for (const auto& [part, answer] : {std::pair{"/preupload/main", &WritableHub::preupload},
                                       {"/commit/main", &WritableHub::make_commit},
                                       {".git/info/lfs/objects/batch", &WritableHub::batch},
                                       {".git/info/lfs/verify", &WritableHub::verify}}) {
      const auto found = target.find(part);
      if (found == target.npos) continue;
      const auto id = target.starts_with("/api/") ? target.substr(5, found - 5)
                                                  : "models" + target.substr(0, found);
      if (!exists(id)) return refusal(401, "Repository not found", "RepoNotFound");
      if (!may_write(id.substr(id.find('/') + 1))) return refusal(403, "no write access");
      return (this->*answer)(request, id);
    }
    return refusal(404, "no such API");
  }

  /// Returns the files of the newest commit.
  [[nodiscard]] std::map<std::string, std::string> files_of(const std::string& id) {
    const std::lock_guard lock{mutex_};
    const auto of = repositories_.find(id);
    if (of == repositories_.end()) return {};
    return of->second.commits.at(of->second.refs.at("main"));
  }
  [[nodiscard]] std::size_t commits_of(const std::string& id) {
    const std::lock_guard lock{mutex_};
    const auto of = repositories_.find(id);
    return of == repositories_.end() ? 0 : of->second.commits.size();
  }
  [[nodiscard]] std::set<std::string> private_ones() const { return private_; }

 private:
  static http::Response refusal(int status, const std::string& why, const std::string& code = "") {
    json::Writer body;
    std::vector<http::Header> headers;
    if (!code.empty()) headers.push_back({"X-Error-Code", code});
    return {status, headers, body.begin_object().member("error", why).end_object().text()};
  }
  static http::Response done(const json::Writer& body) { return {200, {}, body.text()}; }

  static bool has_token(const ServerRequest& request) {
    return request.header("Authorization") == "Bearer hf_write";
  }
  [[nodiscard]] bool may_write(const std::string& id) const {
    return owners.contains(id.substr(0, id.find('/')));
  }
  [[nodiscard]] bool exists(const std::string& id) {
    const std::lock_guard lock{mutex_};
    return repositories_.contains(id);
  }

  http::Response who(const ServerRequest& request) {
    if (!has_token(request)) return refusal(401, "Invalid username or password.");
    json::Writer body;
    body.begin_object().member("name", "me").key("orgs").begin_array();
    body.begin_object().member("name", "org").end_object().end_array();
    body.key("auth").begin_object().key("accessToken").begin_object().member("role", role);
    return done(body.end_object().end_object().end_object());
  }

  http::Response create(const ServerRequest& request) {
    const auto document = json::Document::parse(request.body, "create");
    const auto root = document.root();
    const auto id =
        std::string{root.at("organization").string()} + "/" + std::string{root.at("name").string()};
    if (!may_write(id)) return refusal(403, "You don't have the rights to create a model there");
    if (exists("models/" + id)) return refusal(409, "You already created this model repo");
    if (root.find("private")) private_.insert(id);
    commit("models/" + id, {{".gitattributes", "*.safetensors filter=lfs"}});
    json::Writer body;
    return done(body.begin_object().member("url", "https://hub.test/" + id).end_object());
  }

  http::Response preupload(const ServerRequest& request, const std::string& id) {
    const auto document = json::Document::parse(request.body, "preupload");
    const auto there = files_of(id);
    json::Writer body;
    body.begin_object().key("files").begin_array();
    for (const auto& file : document.root().at("files").items()) {
      const std::string path{file.at("path").string()};
      body.begin_object().member("path", path).member("shouldIgnore", path == ignored);
      body.member("uploadMode", is_large(path) ? "lfs" : "regular").key("oid");
      const auto old = there.find(path);
      if (old == there.end()) {
        body.null();
      } else {
        body.value(is_large(path) ? hex_digest(EVP_sha256(), old->second) : git_hash(old->second));
      }
      body.end_object();
    }
    return done(body.end_array().end_object());
  }

  http::Response batch(const ServerRequest& request, const std::string& id) {
    const auto document = json::Document::parse(request.body, "batch");
    json::Writer body;
    body.begin_object().member("transfer", "basic").key("objects").begin_array();
    for (const auto& object : document.root().at("objects").items()) {
      const std::string hash{object.at("oid").string()};
      const auto size = static_cast<std::size_t>(object.at("size").integer());
      body.begin_object().member("oid", hash).member("size", size);
      if (!files_->has(hash)) add_actions(body, id, hash, size);
      body.end_object();
    }
    return done(body.end_array().end_object());
  }

  void add_actions(json::Writer& body, const std::string& id, const std::string& hash,
                   std::size_t size) const {
    body.key("actions").begin_object().key("upload").begin_object();
    const bool in_parts = size >= part_from;
    const auto at_storage = address_ + "/" + hash + "?signature=secret";
    body.member("href", in_parts ? own_address + "/api/complete?signed" : at_storage);
    body.key("header").begin_object();
    if (in_parts) {
      const auto bytes = part_from / 2;
      body.member("chunk_size", std::to_string(bytes));
      for (std::size_t i = 1; i <= (size - 1) / bytes + 1; ++i) {
        body.member(std::to_string(i), at_storage + "&part=" + std::to_string(i));
      }
    }
    body.end_object().end_object();
    if (verifies) {
      const auto address = own_address + id.substr(id.find('/')) + ".git/info/lfs/verify";
      body.key("verify").begin_object().member("href", address).end_object();
    }
    body.end_object();
  }

  http::Response complete(const ServerRequest& request) {
    const auto document = json::Document::parse(request.body, "complete");
    std::vector<std::string> tags;
    for (const auto& part : document.root().at("parts").items()) {
      if (part.at("partNumber").integer() != static_cast<std::int64_t>(tags.size()) + 1) {
        return refusal(400, "parts are out of order");
      }
      tags.emplace_back(part.at("etag").string());
    }
    return files_->join(std::string{document.root().at("oid").string()}, tags)
               ? http::Response{200, {}, "{}"}
               : refusal(400, "parts are missing");
  }

  http::Response verify(const ServerRequest& request, const std::string&) {
    const auto document = json::Document::parse(request.body, "verify");
    const auto found = files_->find(std::string{document.root().at("oid").string()});
    const bool equal =
        found && found->size() == static_cast<std::size_t>(document.root().at("size").integer());
    return equal ? http::Response{200, {}, "{}"} : refusal(404, "not there");
  }

  http::Response make_commit(const ServerRequest& request, const std::string& id) {
    if (request.header("Content-Type") != "application/x-ndjson") return refusal(415, "type");
    auto files = files_of(id);
    std::istringstream lines{request.body};
    for (std::string line; std::getline(lines, line);) {
      const auto document = json::Document::parse(line, "commit");
      const auto key = document.root().at("key").string();
      const auto value = document.root().at("value");
      if (key == "header") {
        const auto parent = value.find("parentCommit");
        if (parent && parent->string() != newest(id)) return refusal(412, "A commit has happened");
        if (value.at("summary").string().empty()) return refusal(400, "no message");
        continue;
      }
      const std::string path{value.at("path").string()};
      if (is_large(path) != (key == "lfsFile")) return refusal(400, "of the wrong kind: " + path);
      if (key == "file") {
        files[path] = base64_decoded(std::string{value.at("content").string()});
        continue;
      }
      const auto content = files_->find(std::string{value.at("oid").string()});
      if (!content) return refusal(400, "LFS pointer to a file that is not there");
      files[path] = *content;
    }
    json::Writer body;
    return done(body.begin_object().member("commitOid", commit(id, std::move(files))).end_object());
  }

  std::string newest(const std::string& id) {
    const std::lock_guard lock{mutex_};
    return repositories_.at(id).refs.at("main");
  }

  std::mutex writing_;
  std::set<std::string> private_;

 public:
  std::string own_address = "https://hub.test";
  std::string ignored = {};  ///< the path that the .gitignore of each repository has
};

}  // namespace seqtrain::tests
