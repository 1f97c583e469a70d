#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/evp.h>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/http/message.hpp>

#include "support/fake_storage.hpp"

namespace seqtrain::tests {

inline std::string hex_digest(const EVP_MD* kind, const std::string& text) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), bytes, &size, kind, nullptr);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]};
  }
  return hex;
}

inline std::string git_hash(const std::string& text) {
  return hex_digest(EVP_sha1(), "blob " + std::to_string(text.size()) + '\0' + text);
}

/// Answers a request for `content`, or for a range that reaches to its end.
inline http::Response answer_with(const std::string& content, const ServerRequest& request,
                                  std::vector<http::Header> headers = {}) {
  const auto range = request.header("Range");
  if (range.empty()) return {200, std::move(headers), content};
  std::size_t begin = 0;
  std::from_chars(range.data() + 6, range.data() + range.size(), begin);  // bytes=N-
  if (begin >= content.size()) return {416, {}, {}};
  headers.push_back({"Content-Range", "bytes " + std::to_string(begin) + "-" +
                                          std::to_string(content.size() - 1) + "/" +
                                          std::to_string(content.size())});
  return {206, std::move(headers), content.substr(begin)};
}

/// The place of large files, to which the hub redirects: contents by their hash. A content is put
/// in one request, or in parts that the hub joins. It refuses a token, and a body with another
/// hash.
class FakeFileStore {
 public:
  http::Response handle(const ServerRequest& request) {
    const std::lock_guard lock{mutex_};
    const auto hash = request.target.substr(1, request.target.find('?') - 1);
    if (request.method == "PUT") return take(hash, request);
    const auto found = contents_.find(hash);
    if (found == contents_.end()) return {403, {}, {}};
    return answer_with(found->second, request);
  }
  void put(const std::string& hash, const std::string& content) {
    const std::lock_guard lock{mutex_};
    contents_[hash] = content;
  }
  [[nodiscard]] std::optional<std::string> find(const std::string& hash) {
    const std::lock_guard lock{mutex_};
    const auto found = contents_.find(hash);
    if (found == contents_.end()) return {};
    return found->second;
  }
  [[nodiscard]] bool has(const std::string& hash) { return find(hash).has_value(); }

  void clear() {
    const std::lock_guard lock{mutex_};
    contents_.clear();
    parts_.clear();
  }

  /// Joins the parts with these tags. Returns false unless they are the content with this hash.
  bool join(const std::string& hash, const std::vector<std::string>& tags) {
    const std::lock_guard lock{mutex_};
    std::string content;
    for (const auto& tag : tags) content += parts_[tag];
    if (hex_digest(EVP_sha256(), content) != hash) return false;
    contents_[hash] = std::move(content);
    return true;
  }

 private:
  http::Response take(const std::string& hash, const ServerRequest& request) {
    if (!request.header("Authorization").empty()) return {400, {}, "two ways to authenticate"};
    const auto tag = '"' + git_hash(request.body) + '"';
    if (request.target.find("part=") != std::string::npos) {
      parts_[tag] = request.body;
    } else if (hex_digest(EVP_sha256(), request.body) == hash) {
      contents_[hash] = request.body;
    } else {
      return {400, {}, "XAmzContentSHA256Mismatch"};
    }
    return {200, {{"ETag", tag}}, {}};
  }

  std::mutex mutex_;
  std::map<std::string, std::string> contents_;
  std::map<std::string, std::string> parts_;  // parts by their tags
};

/// The hub's rules for fetching: revisions, listings, files, redirects and errors with their codes.
class FakeHub {
 public:
  /// A repository, by its path in the API: `models/org/name`.
  struct Repository {
    std::map<std::string, std::string> refs = {};  ///< revision → commit
    std::map<std::string, std::map<std::string, std::string>> commits = {};  ///< → path → content
    bool gated = false;
  };

  /// Serves large files from `files`, at `address`.
  void keep_large_files(FakeFileStore& files, std::string address) {
    files_ = &files;
    address_ = std::move(address);
  }

  /// Adds a commit with these files, lets `main` point to it, and returns its name.
  std::string commit(const std::string& repository, std::map<std::string, std::string> files) {
    const std::lock_guard lock{mutex_};
    auto& of = repositories_[repository];
    const auto name = git_hash(repository + std::to_string(of.commits.size()));
    of.refs["main"] = name;
    of.commits[name] = std::move(files);
    return name;
  }
  void tag(const std::string& repository, const std::string& name, const std::string& commit) {
    const std::lock_guard lock{mutex_};
    repositories_[repository].refs[name] = commit;
  }
  void erase(const std::string& repository) {
    const std::lock_guard lock{mutex_};
    repositories_.erase(repository);
  }
  void gate(const std::string& repository) {
    const std::lock_guard lock{mutex_};
    repositories_[repository].gated = true;
  }
  /// Redirects an old name, e.g. `models/roberta-base`.
  void rename(const std::string& from, const std::string& to) {
    const std::lock_guard lock{mutex_};
    renamed_[from] = to;
  }

  http::Response handle(const ServerRequest& request) {
    const std::lock_guard lock{mutex_};
    const bool api = request.target.starts_with("/api/");
    auto path = decoded(request.target.substr(api ? 5 : 1));
    if (!api && !path.starts_with("datasets/")) path = "models/" + path;
    const auto end = std::min(path.find("/revision/"), path.find("/resolve/"));
    if (end == path.npos) return error(404, "");
    const auto id = path.substr(0, end);
    if (const auto moved = renamed_.find(id); moved != renamed_.end()) {
      const auto now = moved->second + path.substr(end);
      const auto shown = api ? "/api/" + now : "/" + now.substr(now.starts_with("models/") ? 7 : 0);
      return {307, {{"Location", shown}}, {}};
    }
    const auto found = repositories_.find(id);
    if (found == repositories_.end()) return error(401, "RepoNotFound");
    const auto& repository = found->second;
    const auto rest = path.substr(path.find('/', end + 1) + 1);
    if (api) return list(id, repository, rest);
    if (repository.gated) return error(403, "GatedRepo");
    return file(repository, rest, request);
  }

 protected:
  static bool is_large(const std::string& path) {
    return path.ends_with(".safetensors") || path.ends_with(".bin");
  }

  std::mutex mutex_;
  std::map<std::string, Repository> repositories_;
  FakeFileStore* files_ = nullptr;
  std::string address_;

 private:
  static http::Response error(int status, const std::string& code) {
    return {status, {{"X-Error-Code", code}, {"X-Error-Message", "no\nway"}}, "{}"};
  }

  static std::string decoded(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool escaped = text[i] == '%';
      plain += escaped ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
      if (escaped) i += 2;
    }
    return plain;
  }

  static http::Response list(const std::string& id, const Repository& repository,
                             const std::string& revision) {
    auto commit = repository.refs.find(revision);
    const auto name = commit == repository.refs.end() ? revision : commit->second;
    if (!repository.commits.contains(name)) return error(404, "RevisionNotFound");
    json::Writer writer;
    writer.begin_object().member("id", id).member("sha", name).key("siblings").begin_array();
    for (const auto& [path, content] : repository.commits.at(name)) {
      writer.begin_object().member("rfilename", path).end_object();
    }
    return {200, {}, writer.end_array().end_object().text()};
  }

  http::Response file(const Repository& repository, const std::string& rest,
                      const ServerRequest& request) {
    const auto slash = rest.find('/');
    const auto commit = repository.commits.find(rest.substr(0, slash));
    if (commit == repository.commits.end()) return error(404, "RevisionNotFound");
    const auto found = commit->second.find(rest.substr(slash + 1));
    if (found == commit->second.end()) return error(404, "EntryNotFound");
    const auto& content = found->second;
    std::vector<http::Header> headers{{"X-Repo-Commit", commit->first}};
    if (!is_large(found->first) || files_ == nullptr) {
      headers.push_back({"ETag", '"' + git_hash(content) + '"'});
      return answer_with(content, request, std::move(headers));
    }
    const auto hash = hex_digest(EVP_sha256(), content);
    files_->put(hash, content);
    headers.push_back({"X-Linked-Etag", '"' + hash + '"'});
    headers.push_back({"X-Linked-Size", std::to_string(content.size())});
    headers.push_back({"Location", address_ + "/" + hash});
    return {302, std::move(headers), "Found"};
  }

  std::map<std::string, std::string> renamed_;
};

}  // namespace seqtrain::tests
