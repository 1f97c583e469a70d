#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/core/text_similarity.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/hub/ask.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/push_file.hpp>
#include <seqtrain/hub/settings.hpp>

namespace seqtrain::hub {

/// An upload that the hub asks for in Git LFS's batch API.
struct LfsAction {
  /// Address for the whole content, or for the request that ends an upload in parts.
  http::Url url;
  std::vector<http::Header> headers = {};
  /// Bytes of each part except the last; 0 for an upload in one piece.
  std::uint64_t part_bytes = 0;
  std::vector<http::Url> parts = {};  ///< addresses of the parts in order
};

/// The instruction for bringing a large file to the hub's storage.
struct LfsTransfer {
  std::string hash;
  std::optional<LfsAction> upload = {};  ///< empty if the hub already has the content
  std::optional<LfsAction> verify = {};
};

/// The type of the messages of Git LFS.
inline constexpr std::string_view lfs_media_type = "application/vnd.git-lfs+json";

namespace detail {

/// Reads an address that the hub sends. If a mirror sends an address of the public hub, returns the
/// corresponding address of the mirror.
inline http::Url lfs_url(const Settings& settings, const json::Value& value) {
  auto url = http::Url::parse(value.string(), "answer");
  if (url.origin() == public_hub) url = settings.url(url.target);
  Sender::demand_encryption(settings.endpoint, url);
  return url;
}

/// Tells whether the client sends this header of an action. It computes the headers about the
/// length of the body itself.
inline bool is_sent(std::string_view name) {
  for (const std::string_view own : {"Content-Length", "Transfer-Encoding", "Host"}) {
    if (equal_but_case(name, own)) return false;
  }
  return !name.empty() && std::ranges::all_of(name, [](char c) { return is_word(c) || c == '-'; });
}

inline LfsAction lfs_action(const Settings& settings, const json::Value& value) {
  LfsAction action{.url = lfs_url(settings, value.at("href"))};
  const auto header = value.find("header");
  if (!header) return action;
  std::map<std::uint64_t, http::Url> parts;
  for (const auto& [name, content] : header->members()) {
    if (name == "chunk_size") {
      action.part_bytes = parse_number<std::uint64_t>(content.string_or_digits()).value_or(0);
      if (action.part_bytes == 0) throw content.error("expected a number of bytes");
    } else if (const auto part = parse_number<std::uint64_t>(name)) {
      parts.emplace(*part, lfs_url(settings, content));
    } else if (is_sent(name) && content.is_string()) {
      action.headers.push_back({std::string{name}, std::string{content.string()}});
    }
  }
  for (auto& [number, url] : parts) action.parts.push_back(std::move(url));
  return action;
}

inline LfsTransfer lfs_transfer(const Settings& settings, const json::Value& object,
                                const PushFile& file) {
  LfsTransfer transfer{.hash = file.hash};
  const auto actions = object.find("actions");
  if (!actions) return transfer;
  if (const auto upload = actions->find("upload")) transfer.upload = lfs_action(settings, *upload);
  if (const auto verify = actions->find("verify")) transfer.verify = lfs_action(settings, *verify);
  if (!transfer.upload) return transfer;
  const auto& [url, headers, bytes, parts] = *transfer.upload;
  const auto needed = bytes == 0 ? 0 : (file.size - 1) / bytes + 1;
  if (parts.size() != needed) throw object.error("another number of parts than the size needs");
  return transfer;
}

inline std::string lfs_question(const Name& name, const std::vector<PushFile>& files) {
  json::Writer body;
  body.begin_object().member("operation", "upload").key("transfers").begin_array();
  body.value("basic").value("multipart").end_array().key("objects").begin_array();
  for (const auto& file : files) {
    body.begin_object().member("oid", file.hash).member("size", file.size).end_object();
  }
  body.end_array().member("hash_algo", "sha256").key("ref").begin_object();
  return body.member("name", name.revision).end_object().end_object().text();
}

}  // namespace detail

/// Returns a request of Git LFS with a JSON body, which must outlive it.
[[nodiscard]] inline http::Request lfs_request(const http::Url& url, const std::string& body) {
  const std::string type{lfs_media_type};
  return {.method = "POST",
          .url = url,
          .headers = {{"Accept", type}, {"Content-Type", type}},
          .body = {http::bytes_of(body)}};
}

/// Asks the hub how its storage takes large files. Throws the errors of `Failure`, `Error` with the
/// hub's message if it refuses a file, or `TrustError` if an address is not encrypted.
[[nodiscard]] inline std::vector<LfsTransfer> lfs_transfers(const Client& client, const Name& name,
                                                            const std::vector<PushFile>& files) {
  const auto& settings = client.settings();
  const auto body = detail::lfs_question(name, files);
  const auto url = settings.url("/" + name.id + ".git/info/lfs/objects/batch");
  const auto answer = demand(client, name, lfs_request(url, body));
  return read_answer(client, name, answer, [&](const json::Value& root) {
    std::vector<LfsTransfer> transfers;
    for (const auto& object : root.at("objects").items()) {
      const auto file = std::ranges::find(files, object.at("oid").string(), &PushFile::hash);
      if (file == files.end()) continue;
      if (const auto error = object.find("error")) {
        throw Error{"the hub refuses it: " + std::string{error->at("message").string()},
                    {.object = name.text(), .field = file->path}};
      }
      transfers.push_back(detail::lfs_transfer(settings, object, *file));
    }
    return transfers;
  });
}

/// Uploads one large file to the hub's storage, as the hub's instruction says.
class LfsUpload {
 public:
  LfsUpload(const Client& client, const Name& name, const PushFile& file)
      : client_{client}, where_{.object = name.text(), .field = file.path}, file_{file} {}

  /// Sends the content and lets the hub verify it. Returns false if an address refuses it, for
  /// example because the address has expired; `refusal()` then gives the reason. Throws
  /// `Unavailable` if there is no answer.
  [[nodiscard]] bool run(const LfsTransfer& transfer) {
    const auto& upload = *transfer.upload;
    const bool sent = upload.parts.empty()
                          ? put(upload.url, upload.headers, file_.content().bytes()).has_value()
                          : send_parts(upload);
    return sent && (!transfer.verify || verify(*transfer.verify));
  }

  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  [[nodiscard]] bool send_parts(const LfsAction& action) {
    const auto content = file_.content();
    json::Writer body;
    body.begin_object().member("oid", file_.hash).key("parts").begin_array();
    for (std::size_t i = 0; i < action.parts.size(); ++i) {
      const auto begin = i * action.part_bytes;
      const auto size = std::min<std::uint64_t>(action.part_bytes, file_.size - begin);
      const auto answer = put(action.parts[i], {}, content.bytes().subspan(begin, size));
      if (!answer) return false;
      const auto tag = answer->find("ETag");
      if (!tag || tag->empty()) return refused("gives no ETag of a part");
      body.begin_object().member("partNumber", i + 1).member("etag", *tag).end_object();
    }
    return post(action, body.end_array().end_object().text());
  }

  [[nodiscard]] bool verify(const LfsAction& action) {
    json::Writer body;
    body.begin_object().member("oid", file_.hash).member("size", file_.size).end_object();
    return post(action, body.text());
  }

  [[nodiscard]] std::optional<http::Response> put(const http::Url& url,
                                                  const std::vector<http::Header>& headers,
                                                  std::span<const std::byte> bytes) {
    return send({.method = "PUT", .url = url, .headers = headers, .body = {bytes}});
  }

  [[nodiscard]] bool post(const LfsAction& action, const std::string& body) {
    auto request = lfs_request(action.url, body);
    request.headers.insert(request.headers.end(), action.headers.begin(), action.headers.end());
    return send(request).has_value();
  }

  [[nodiscard]] std::optional<http::Response> send(const http::Request& request) {
    // The hub's headers may be secrets, so other hosts do not get them.
    auto answer = ask(client_, request, where_, request.headers.empty());
    if (answer.succeeded()) return answer;
    const auto said = "answered " + std::to_string(answer.status);
    if (http::is_retryable(answer.status)) throw Unavailable{"the hub's storage " + said, where_};
    refused(said);
    return {};
  }

  bool refused(std::string why) {
    refusal_ = std::move(why);
    return false;
  }

  const Client& client_;
  Where where_;
  const PushFile& file_;
  std::string refusal_;
};

namespace detail {

/// Makes one attempt to upload files to the hub's storage. Leaves in `files` those that were
/// refused, and returns the reason of the last refusal.
inline std::string try_upload(const Client& client, const Name& name,
                              std::vector<PushFile>& files) {
  std::string refusal = "gave no address for the file";
  for (const auto& transfer : lfs_transfers(client, name, files)) {
    const auto file = std::ranges::find(files, transfer.hash, &PushFile::hash);
    if (file == files.end()) continue;
    LfsUpload upload{client, name, *file};
    if (!transfer.upload || upload.run(transfer)) {
      files.erase(file);
    } else {
      refusal = upload.refusal();
    }
  }
  return refusal;
}

}  // namespace detail

/// Uploads the large files among `files` to the hub's storage, unless it has them. A refused file
/// is tried twice more at new addresses. Throws the errors of `lfs_transfers`, or `Unavailable`.
inline void upload_large_files(const Client& client, const Name& name,
                               std::vector<PushFile> files) {
  std::erase_if(files, [](const PushFile& file) { return !file.is_large; });
  std::ranges::sort(files, {}, &PushFile::hash);  // equal contents are sent once
  const auto are_equal = [](const PushFile& a, const PushFile& b) { return a.hash == b.hash; };
  files.erase(std::unique(files.begin(), files.end(), are_equal), files.end());
  std::string refusal;
  for (int attempt = 0; attempt < 3 && !files.empty(); ++attempt) {
    refusal = detail::try_upload(client, name, files);
  }
  if (files.empty()) return;
  throw Unavailable{"the hub's storage " + refusal,
                    {.object = name.text(), .field = files.front().path}};
}

}  // namespace seqtrain::hub
