#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/buckets/byte_source.hpp>
#include <seqtrain/buckets/download.hpp>
#include <seqtrain/gcs/object_info.hpp>
#include <seqtrain/gcs/session.hpp>
#include <seqtrain/http/message.hpp>

namespace seqtrain::gcs {

/// Lists, reads, writes, copies and removes objects by name. `upload.hpp` and `download.hpp` are
/// for whole files. Every read and write is verified by CRC-32C. A failed request is repeated by
/// the rules of `RetryPolicy`. Throws `NotFound`, `Forbidden`, `PreconditionFailed` or `Error`.
/// Several threads may use one client.
class Client {
 public:
  using Uri = gcs::Uri;
  using Object = ObjectInfo;

  explicit Client(std::unique_ptr<Session> session) : session_{std::move(session)} {}

  [[nodiscard]] Session& session() const noexcept { return *session_; }

  [[nodiscard]] const http::Log& log() const noexcept { return session_->options().log; }

  /// Makes running calls end soon with an `Error`, and later calls at once.
  void cancel() const noexcept { session_->cancel(); }

  /// Returns the facts about an object. Throws `Error` if there is none.
  [[nodiscard]] ObjectInfo stat(const Uri& uri) const {
    const Operation operation{uri.text(), "storage.objects.get"};
    return parse(session_->call({.url = session_->url(detail::object_path(uri))}, operation),
                 operation, uri.bucket);
  }

  /// Returns an object's properties, or nothing if there is no such object. A missing bucket counts
  /// as a missing object; only `list` reports it.
  [[nodiscard]] std::optional<ObjectInfo> find(const Uri& uri) const {
    try {
      return stat(uri);
    } catch (const NotFound&) {
      return {};
    }
  }

  /// Calls `found` for each object whose name begins with `prefix.name`, in the order of their
  /// names.
  void list(const Uri& prefix, const std::function<void(const ObjectInfo&)>& found) const {
    const Operation operation{prefix.text(), "storage.objects.list", "no such bucket"};
    std::string page;
    do {
      auto query = "maxResults=1000&prefix=" + http::percent_encode(prefix.name);
      if (!page.empty()) query += "&pageToken=" + http::percent_encode(page);
      const auto url = session_->url(detail::objects_path("/storage/v1", prefix), query);
      const auto response = session_->call({.url = url}, operation);
      if (!response.succeeded()) session_->fail(response, operation);
      auto next = read_page(response, prefix, found);
      if (next == page && !page.empty())
        throw Error{"no more pages: the page token repeats", {.object = prefix.text()}};
      page = std::move(next);
    } while (!page.empty());
  }

  [[nodiscard]] std::vector<ObjectInfo> list(const Uri& prefix) const {
    std::vector<ObjectInfo> objects;
    list(prefix, [&](const ObjectInfo& object) { objects.push_back(object); });
    return objects;
  }

  /// Writes a small object in one request, as a whole or not at all.
  ObjectInfo put(const Uri& uri, std::span<const std::byte> bytes,
                 const WriteOptions& options = {}) const {
    const auto checksum = Crc32c{}.update(bytes);
    const auto boundary = detail::boundary_for(bytes);
    const auto head = "--" + boundary +
                      "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" +
                      detail::metadata(uri, options, checksum) + "\r\n--" + boundary +
                      "\r\nContent-Type: " + options.content_type + "\r\n\r\n";
    const auto tail = "\r\n--" + boundary + "--\r\n";
    const http::Request request{
        .method = "POST",
        .url = session_->url(detail::objects_path("/upload/storage/v1", uri),
                             detail::with_precondition("uploadType=multipart", options)),
        .headers = {{"Content-Type", "multipart/related; boundary=" + boundary}},
        .body = {http::bytes_of(head), bytes, http::bytes_of(tail)}};
    const Operation operation{uri.text(), "storage.objects.create", "no such bucket"};
    bool repeated = false;
    const auto response = session_->call(request, operation, &repeated);
    return finish_write(response, operation, uri, bytes.size(), checksum, repeated);
  }
  ObjectInfo put(const Uri& uri, std::string_view text, const WriteOptions& options = {}) const {
    return put(uri, http::bytes_of(text), options);
  }

  /// Reads `size` bytes from `offset` on, of exactly that generation, into `sink`. After a broken
  /// connection it continues at the byte that it had reached. The bytes are not verified: only a
  /// whole object has a checksum.
  void read(const ObjectInfo& object, std::uint64_t offset, std::uint64_t size,
            const http::BodySink& sink) const {
    const Operation operation{object.uri.text(), "storage.objects.get"};
    session_->read(
        operation, offset, size, sink,
        [&](std::uint64_t begin, std::uint64_t end, const http::BodySink& into) {
          return range(object, begin, end, into);
        },
        [&](const http::Response& response) {
          if (!response.succeeded()) session_->fail(response, operation);
        });
  }

  /// Reads a whole object into `sink`. Throws after the last byte if the checksum is wrong.
  ObjectInfo read(const Uri& uri, const http::BodySink& sink) const {
    auto object = stat(uri);
    Crc32c checksum;
    read(object, 0, object.size, [&](std::span<const std::byte> bytes) {
      checksum.update(bytes);
      sink(bytes);
    });
    verify(object, checksum);
    return object;
  }

  /// Throws `WrongChecksum` unless `checksum` is the object's, and `Error` if the object has none.
  static void verify(const ObjectInfo& object, Crc32c checksum) {
    if (object.crc32c == checksum) return;
    const Where where{.object = object.uri.text()};
    if (!object.crc32c) throw Error{"the service gave no checksum (crc32c)", where};
    throw buckets::WrongChecksum{"the checksum (crc32c) of the received bytes is wrong", where};
  }
  /// Does the same, for the code that all clouds share. The content is not read.
  static void verify(const ObjectInfo& object, Crc32c checksum, buckets::ByteSource&) {
    verify(object, checksum);
  }

  /// Copies an object of any size inside the service.
  ObjectInfo copy(const Uri& from, const Uri& to, const WriteOptions& options = {}) const {
    const Operation operation{to.text(), "storage.objects.create"};
    const auto source = stat(from);
    const auto path = detail::object_path(from) + "/rewriteTo/b/" + to.bucket + "/o/" +
                      http::percent_encode(to.name);
    const auto query =
        detail::with_precondition("sourceGeneration=" + std::to_string(source.generation), options);
    std::string token;
    while (true) {
      const auto more = token.empty() ? "" : "&rewriteToken=" + http::percent_encode(token);
      bool repeated = false;
      const auto response = session_->call(
          {.method = "POST", .url = session_->url(path, query + more)}, operation, &repeated);
      if (response.status == 412 && repeated)
        return own_write(operation, to, source.size, source.crc32c.value_or(Crc32c{}));
      if (!response.succeeded()) session_->fail(response, operation);
      const auto document = json::Document::parse(response.body, to.text());
      if (document.root().at("done").boolean()) {
        return detail::read_object(document.root().at("resource"), to.bucket);
      }
      token = document.root().at("rewriteToken").string();
    }
  }

  /// Joins up to 32 objects of one bucket, in order.
  ObjectInfo compose(const std::vector<ObjectInfo>& parts, const Uri& to, std::uint64_t size,
                     Crc32c checksum, const WriteOptions& options = {}) const {
    const Operation operation{to.text(), "storage.objects.create"};
    const auto body = detail::compose_body(parts, options);
    const http::Request request{.method = "POST",
                                .url = session_->url(detail::object_path(to) + "/compose",
                                                     detail::with_precondition("", options)),
                                .headers = {{"Content-Type", "application/json"}},
                                .body = {http::bytes_of(body)}};
    bool repeated = false;
    const auto response = session_->call(request, operation, &repeated);
    return finish_write(response, operation, to, size, checksum, repeated);
  }

  /// Removes an object, or only the given generation of it. Returns false if there is none.
  bool remove(const Uri& uri, std::optional<std::int64_t> generation = {}) const {
    const Operation operation{uri.text(), "storage.objects.delete"};
    const auto query = generation ? "ifGenerationMatch=" + std::to_string(*generation) : "";
    const auto response = session_->call(
        {.method = "DELETE", .url = session_->url(detail::object_path(uri), query)}, operation);
    if (response.status == 404) return false;
    if (!response.succeeded()) session_->fail(response, operation);
    return true;
  }

  /// Evaluates the answer to the last request of a write, for the writers of this room. Throws
  /// unless the object is there with this size and checksum. A wrong object is removed again.
  ObjectInfo finish_write(const http::Response& response, const Operation& operation,
                          const Uri& uri, std::uint64_t size, Crc32c checksum,
                          bool repeated) const {
    if (response.status == 412 && repeated) return own_write(operation, uri, size, checksum);
    auto info = parse(response, operation, uri.bucket);
    if (info.size == size && info.crc32c == checksum) return info;
    remove(uri, info.generation);
    throw Error{"the stored object differs in size or crc32c from what was sent and was removed",
                {.object = uri.text()}};
  }

  /// Returns the address of a new upload, with the write's conditions.
  [[nodiscard]] http::Url upload_url(const Uri& uri, const WriteOptions& options) const {
    const auto query = detail::with_precondition(
        "uploadType=resumable&name=" + http::percent_encode(uri.name), options);
    return session_->url(detail::objects_path("/upload/storage/v1", uri), query);
  }

 private:
  ObjectInfo parse(const http::Response& response, const Operation& operation,
                   const std::string& bucket) const {
    if (!response.succeeded()) session_->fail(response, operation);
    const auto document = json::Document::parse(response.body, operation.object);
    return detail::read_object(document.root(), bucket);
  }

  /// Returns the object if an earlier attempt has written it and the answer was lost.
  ObjectInfo own_write(const Operation& operation, const Uri& uri, std::uint64_t size,
                       Crc32c checksum) const {
    auto info = find(uri);
    if (info && info->size == size && info->crc32c == checksum) return *std::move(info);
    throw PreconditionFailed{"the object has been changed by somebody else",
                             {.object = operation.object}};
  }

  static std::string read_page(const http::Response& response, const Uri& prefix,
                               const std::function<void(const ObjectInfo&)>& found) {
    const auto document = json::Document::parse(response.body, prefix.text());
    if (const auto items = document.root().find("items")) {
      for (const auto& item : items->items()) found(detail::read_object(item, prefix.bucket));
    }
    const auto next = document.root().find("nextPageToken");
    return std::string{next ? next->string() : ""};
  }

  [[nodiscard]] http::Request range(const ObjectInfo& object, std::uint64_t begin,
                                    std::uint64_t end, const http::BodySink& sink) const {
    const auto query = "alt=media&generation=" + std::to_string(object.generation);
    const auto bytes = "bytes=" + std::to_string(begin) + "-" + std::to_string(end - 1);
    // Without gzip the service would decompress some objects first, and their checksums would not
    // match.
    return {.url = session_->url(detail::object_path(object.uri), query),
            .headers = {{"Range", bytes}, {"Accept-Encoding", "gzip"}},
            .max_answer = end - begin,
            .sink = sink};
  }

  std::unique_ptr<Session> session_;
};

}  // namespace seqtrain::gcs
