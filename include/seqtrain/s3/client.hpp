#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
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
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/s3/checksum.hpp>
#include <seqtrain/s3/session.hpp>

namespace seqtrain::s3 {

/// The properties of one version of an object.
struct ObjectInfo {
  Uri uri;
  std::string etag = {};  ///< without quotes
  std::uint64_t size = 0;
  std::string written_by = {};  ///< the token of seqtrain's write; another writer gives none
  std::string modified = {};    ///< as the service writes it
  Checksum checksum = {};       ///< unknown for objects of a list
  bool listed = false;          ///< true for objects of a list, which lacks some properties

  /// Returns what differs between two versions of an object.
  [[nodiscard]] std::string version() const { return etag + " " + std::to_string(size); }
};

/// Conditions of a write.
struct WriteOptions {
  std::optional<std::string> if_etag = {};  ///< empty: there must be no such object yet
};

namespace detail {

inline std::string object_target(const Uri& uri, const std::string& query = "") {
  if (uri.name.empty()) throw InputError{"names a bucket, not an object", {.object = uri.text()}};
  std::string target;
  for (const auto part : split(uri.name, '/')) target += "/" + http::percent_encode(part);
  return target + (query.empty() ? "" : "?" + query);
}

inline http::Request object_request(const std::string& method, const Uri& uri,
                                    const std::string& query = "") {
  http::Request request{.method = method};
  request.url.target = object_target(uri, query);
  return request;
}

/// Decodes a name in a list: `%XX`, and `+` for a space.
inline std::string decode_name(std::string text) {
  std::ranges::replace(text, '+', ' ');
  return percent_decode(text);
}

inline void add_condition(http::Request& request, const WriteOptions& options) {
  if (!options.if_etag) return;
  if (options.if_etag->empty()) request.headers.push_back({"If-None-Match", "*"});
  if (!options.if_etag->empty())
    request.headers.push_back({"If-Match", '"' + *options.if_etag + '"'});
}

}  // namespace detail

/// Lists, reads, writes and removes objects by name. `upload.hpp` is for whole files. Writes and
/// reads are verified as far as the service has checksums. A failed request is repeated by the
/// rules of `RetryPolicy`. Throws `NotFound`, `Forbidden`, `PreconditionFailed` or `Error`. Several
/// threads may use one client.
class Client {
 public:
  using Uri = s3::Uri;
  using Object = ObjectInfo;

  explicit Client(std::unique_ptr<Session> session) : session_{std::move(session)} {}

  [[nodiscard]] Session& session() const noexcept { return *session_; }
  [[nodiscard]] const http::Log& log() const noexcept { return session_->options().log; }

  /// Makes running calls end soon with an `Error`, and later calls at once.
  void cancel() const noexcept { session_->cancel(); }

  /// Returns an object's properties. Throws `NotFound` if there is no such object.
  [[nodiscard]] ObjectInfo stat(const Uri& uri) const {
    const Operation operation{uri, "s3:GetObject"};
    auto request = detail::object_request("HEAD", uri);
    request.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
    auto response = session_->call(request, operation);
    if (response.status == 400 || response.status == 403) {
      ask_why(operation);
      response = session_->call(request, operation);
    }
    if (!response.succeeded()) session_->fail(response, operation);
    auto object = read_properties(response, uri);
    if (object.checksum.kind == Checksum::md5_of_parts) {
      object.checksum.part_bytes = common_part_size(object);
    }
    return object;
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
    const Operation operation{prefix, "s3:ListBucket"};
    std::string page;
    do {
      auto query =
          "encoding-type=url&list-type=2&max-keys=1000&prefix=" + http::percent_encode(prefix.name);
      if (!page.empty()) query += "&continuation-token=" + http::percent_encode(page);
      http::Request request;
      request.url.target = "/?" + query;
      const auto response = session_->call(request, operation);
      session_->demand_success(response, operation);
      auto next = read_page(response, prefix, found);
      if (next == page && !page.empty()) {
        throw Error{"no more pages: the token of the page repeats", {.object = prefix.text()}};
      }
      page = std::move(next);
    } while (!page.empty());
  }

  [[nodiscard]] std::vector<ObjectInfo> list(const Uri& prefix) const {
    std::vector<ObjectInfo> objects;
    list(prefix, [&](const ObjectInfo& object) { objects.push_back(object); });
    return objects;
  }

  /// Writes an object in one request, as a whole or not at all.
  ObjectInfo put(const Uri& uri, std::span<const std::byte> bytes,
                 const WriteOptions& options = {}) const {
    constexpr std::uint64_t most_bytes = std::uint64_t{5} << 30;
    if (bytes.size() > most_bytes) {
      throw InputError{"more than 5 GiB in one request", {.object = uri.text()}};
    }
    const Operation operation{uri, "s3:PutObject"};
    const auto checksum = Crc32c{}.update(bytes);
    const auto token = random_token();
    auto request = detail::object_request("PUT", uri);
    request.headers = {{"Content-Type", "application/octet-stream"},
                       {"x-amz-sdk-checksum-algorithm", "CRC32C"},  // objects with a lock need it
                       {"x-amz-checksum-crc32c", http::base64_of(checksum.value())},
                       {token_header, token}};
    detail::add_condition(request, options);
    request.body = {bytes};
    const auto response = session_->call(request, operation);
    if (response.status == 412) return own_write(operation, token);
    session_->demand_success(response, operation);
    confirm(response, bytes, checksum, uri);
    return {.uri = uri,
            .etag = plain_etag(response.find("ETag").value_or("")),
            .size = bytes.size(),
            .written_by = token,
            .checksum = {Checksum::crc32c, http::base64_of(checksum.value())}};
  }
  ObjectInfo put(const Uri& uri, std::string_view text, const WriteOptions& options = {}) const {
    return put(uri, http::bytes_of(text), options);
  }

  /// Reads `size` bytes from `offset` on, of exactly that version, into `sink`. Throws `NotFound`
  /// if the object was overwritten. After a broken connection it continues at the byte that it had
  /// reached. The bytes are not verified: only a whole object has a checksum.
  void read(const ObjectInfo& object, std::uint64_t offset, std::uint64_t size,
            const http::BodySink& sink) const {
    const Operation operation{object.uri, "s3:GetObject"};
    session_->read(
        operation, offset, size, sink,
        [&](std::uint64_t begin, std::uint64_t end, const http::BodySink& into) {
          return range(object, begin, end, into);
        },
        [&](const http::Response& response) {
          const auto etag = plain_etag(response.find("ETag").value_or(object.etag));
          const bool other = response.succeeded() && etag != object.etag;
          if (response.status == 412 || other) {
            throw NotFound{"the object has been overwritten", {.object = object.uri.text()}};
          }
          if (!response.succeeded()) session_->fail(response, operation);
        });
  }

  /// Throws `WrongChecksum` unless a content has the object's checksum. `checksum` is the
  /// content's. Asks the service for the checksum of an object that was listed.
  void verify(const ObjectInfo& object, Crc32c checksum, buckets::ByteSource& content) const {
    const auto current = object.listed ? stat(object.uri) : object;
    if (current.etag != object.etag) {
      throw NotFound{"the object has been overwritten", {.object = object.uri.text()}};
    }
    const bool in_parts = current.checksum.kind == Checksum::md5_of_parts;
    const bool is_known = !in_parts || current.checksum.part_bytes != 0;
    if (is_known && fits(current.checksum, checksum, content, object.size)) return;
    if (in_parts && fits_by_parts(current, content)) return;
    throw buckets::WrongChecksum{"the checksum of the received bytes is wrong",
                                 {.object = object.uri.text()}};
  }

  /// Removes an object. Does nothing if there is none.
  void remove(const Uri& uri) const {
    const Operation operation{uri, "s3:DeleteObject"};
    const auto response = session_->call(detail::object_request("DELETE", uri), operation);
    if (response.status == 404 && Problem::of(response).code != "NoSuchBucket") return;
    session_->demand_success(response, operation);
  }

  /// Throws unless the service has stored bytes as they were sent: it says so by a CRC-32C, or by
  /// an ETag that is their MD5. Any other ETag is trusted; an answer without one is not S3's.
  static void confirm(const http::Response& response, std::span<const std::byte> bytes,
                      Crc32c checksum, const Uri& uri) {
    if (plain_etag(response.find("ETag").value_or("")).empty()) {
      throw Error{"the service did not confirm the write: its answer has no ETag",
                  {.object = uri.text()}};
    }
    const auto stored = read_checksum(response);
    buckets::MemorySource content{bytes};
    if (stored.kind == Checksum::md5_of_parts) return;
    if (fits(stored, checksum, content, bytes.size())) return;
    throw Error{"the service stored other bytes than were sent", {.object = uri.text()}};
  }

  /// Returns the object if an earlier attempt has written it and the answer was lost, or if the
  /// request has come twice.
  [[nodiscard]] ObjectInfo own_write(const Operation& operation, const std::string& token) const {
    auto object = find(operation.uri);
    if (object && object->written_by == token) return *std::move(object);
    throw PreconditionFailed{"somebody else has changed the object",
                             {.object = operation.uri.text()}};
  }

  /// The header by which an object says which write it is of.
  static constexpr const char* token_header = "x-amz-meta-seqtrain-write";

 private:
  /// Asks for an object's first byte after HEAD was refused, which has no code of an error. Throws
  /// the error, or returns if this request put right what was wrong.
  void ask_why(const Operation& operation) const {
    auto request = detail::object_request("GET", operation.uri);
    request.headers = {{"Range", "bytes=0-0"}};
    const auto response = session_->call(request, operation);
    const bool is_empty = response.status == 416;
    if (!response.succeeded() && !is_empty) session_->fail(response, operation);
  }

  static ObjectInfo read_properties(const http::Response& response, const Uri& uri) {
    const auto size = parse_number<std::uint64_t>(response.find("Content-Length").value_or(""));
    const auto etag = plain_etag(response.find("ETag").value_or(""));
    if (!size || etag.empty()) {
      throw Error{"the service gave no size or no ETag", {.object = uri.text()}};
    }
    return {.uri = uri,
            .etag = etag,
            .size = *size,
            .written_by = response.find(token_header).value_or(""),
            .modified = response.find("Last-Modified").value_or(""),
            .checksum = read_checksum(response)};
  }

  /// Returns the number of parts in an ETag, or 0.
  static std::uint64_t count_parts(const ObjectInfo& object) {
    constexpr std::uint64_t most_parts = 10'000;
    const auto parts = parse_number<std::uint64_t>(object.etag.substr(object.etag.find('-') + 1));
    return parts && *parts <= most_parts ? *parts : 0;
  }

  /// Returns the size that all parts of an object but the last seem to have, or 0.
  [[nodiscard]] std::uint64_t common_part_size(const ObjectInfo& object) const {
    const auto first = part_size(object, 1);
    const bool may_be = first != 0 && (object.size + first - 1) / first == count_parts(object);
    return may_be ? first : 0;
  }

  /// Tells whether a content has the ETag of an object in parts of any sizes. If the service does
  /// not tell the sizes, nothing is known, and the content counts as right.
  [[nodiscard]] bool fits_by_parts(const ObjectInfo& object, buckets::ByteSource& content) const {
    detail::Md5 whole;
    const auto parts = count_parts(object);
    std::uint64_t offset = 0;
    for (std::uint64_t i = 1; i <= parts; ++i) {
      const auto size = part_size(object, i);
      if (size == 0) return true;
      const auto digest = detail::sum_of<detail::Md5>(content, offset, offset + size).digest();
      whole.update(std::as_bytes(std::span{digest}));
      offset += size;
    }
    return parts == 0 || hex(whole.digest()) + "-" + std::to_string(parts) == object.etag;
  }

  /// Returns the size of a part, or 0 if the service does not tell.
  [[nodiscard]] std::uint64_t part_size(const ObjectInfo& object, std::uint64_t number) const {
    const Operation operation{object.uri, "s3:GetObject"};
    auto request =
        detail::object_request("HEAD", object.uri, "partNumber=" + std::to_string(number));
    request.headers.push_back({"If-Match", '"' + object.etag + '"'});
    const auto response = session_->call(request, operation);
    const auto size = parse_number<std::uint64_t>(response.find("Content-Length").value_or(""));
    return response.succeeded() ? size.value_or(0) : 0;
  }

  static std::string read_page(const http::Response& response, const Uri& prefix,
                               const std::function<void(const ObjectInfo&)>& found) {
    const auto root = XmlReader::parse(response.body, {.object = prefix.text()});
    if (root.name != "ListBucketResult") {
      throw Error{"the service sent no list", {.object = prefix.text()}};
    }
    const bool encoded = root.text_of("EncodingType") == "url";
    for (const auto& child : root.children) {
      if (child.name != "Contents") continue;
      const auto key = child.text_of("Key");
      const auto size = parse_number<std::uint64_t>(child.text_of("Size"));
      ObjectInfo object{{prefix.bucket, encoded ? detail::decode_name(key) : key}};
      object.etag = plain_etag(child.text_of("ETag"));
      object.modified = child.text_of("LastModified");
      object.listed = true;
      if (!size || !object.uri.name.starts_with(prefix.name)) {
        throw Error{"the service sent a list of something else", {.object = prefix.text()}};
      }
      object.size = *size;
      found(object);
    }
    const auto next = root.text_of("NextContinuationToken");
    if (root.text_of("IsTruncated") == "true" && next.empty()) {
      throw Error{"the service sent a list without an end", {.object = prefix.text()}};
    }
    return root.text_of("IsTruncated") == "true" ? next : "";
  }

  static http::Request range(const ObjectInfo& object, std::uint64_t begin, std::uint64_t end,
                             const http::BodySink& sink) {
    auto request = detail::object_request("GET", object.uri);
    request.headers = {{"Range", "bytes=" + std::to_string(begin) + "-" + std::to_string(end - 1)},
                       {"If-Match", '"' + object.etag + '"'}};
    request.max_answer = end - begin;
    request.sink = sink;
    return request;
  }

  std::unique_ptr<Session> session_;
};

}  // namespace seqtrain::s3
