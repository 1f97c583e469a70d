#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/hub/ask.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/lfs.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/push_file.hpp>

namespace seqtrain::hub {

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
    const bool sent = upload.parts.empty() ? send_whole(upload) : send_parts(upload);
    return sent && (!transfer.verify || verify(*transfer.verify));
  }

  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  [[nodiscard]] bool send_whole(const LfsAction& action) {
    const auto content = file_.content();
    return put(action.url, action.headers, content.bytes()).has_value();
  }

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
