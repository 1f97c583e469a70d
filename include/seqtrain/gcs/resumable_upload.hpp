#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/buckets/byte_source.hpp>
#include <seqtrain/buckets/download.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/gcs/client.hpp>

namespace seqtrain::gcs {

using buckets::ByteSource, buckets::FileSource, buckets::MemorySource, buckets::StreamSource;
using buckets::Progress;

/// Writes one object in chunks. After each answer the upload continues at the byte that the service
/// says it has; after a broken connection it asks for that byte first. The object becomes visible
/// with the last chunk, which carries the checksum of the whole. Only one chunk is in memory.
class ResumableUpload {
 public:
  /// The size of every chunk except the last is a multiple of this number of bytes.
  static constexpr std::size_t granule = std::size_t{256} << 10;

  /// `chunk_bytes` is rounded up to whole granules. All references must outlive the upload.
  ResumableUpload(const Client& client, const Uri& uri, ByteSource& source,
                  const WriteOptions& options, std::size_t chunk_bytes, const Progress& progress)
      : client_{client},
        session_{client.session()},
        uri_{uri},
        source_{source},
        options_{options},
        progress_{progress},
        capacity_{std::max<std::size_t>((chunk_bytes + granule - 1) / granule, 1) * granule},
        operation_{uri.text(), "storage.objects.create", "no such bucket"},
        attempts_{session_.retry(operation_)} {
    if (const auto size = source.size()) capacity_ = std::min<std::uint64_t>(capacity_, *size + 1);
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
  }

  /// Uploads the content and returns the new object. Throws as `Client` does; then the object is
  /// absent, or as it was before.
  ObjectInfo run() {
    begin();
    while (true) {
      fill();
      auto response = attempt(chunk());
      while (!response) response = attempt(question());
      if (response->status == 404 || response->status == 410) {
        start_again();
      } else if (response->status == 308) {
        go_on_from(kept(*response));
      } else {
        return client_.finish_write(*response, operation_, uri_, hashed_, checksum_,
                                    attempts_.attempts() > 0);
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t end() const { return start_ + filled_; }

  void begin() {
    json::Writer metadata;
    metadata.begin_object().member("name", uri_.name);
    metadata.member("contentType", options_.content_type).end_object();
    http::Request request{.method = "POST",
                          .url = client_.upload_url(uri_, options_),
                          .headers = {{"Content-Type", "application/json; charset=UTF-8"},
                                      {"X-Upload-Content-Type", options_.content_type}},
                          .body = {http::bytes_of(metadata.text())}};
    if (const auto size = source_.size()) {
      request.headers.push_back({"X-Upload-Content-Length", std::to_string(*size)});
    }
    const auto response = session_.call(request, operation_);
    if (!response.succeeded()) session_.fail(response, operation_);
    const auto location = response.find("Location");
    if (!location) throw Error{"the service opened no upload", {.object = operation_.object}};
    upload_url_ = session_.trusted(*location, request.url);
  }

  /// Fills the buffer. Adds new bytes to the checksum while they are in the processor's cache.
  void fill() {
    while (!ended_ && filled_ < capacity_) {
      const std::span room{buffer_.get() + filled_, std::min(capacity_ - filled_, granule)};
      const auto from = end();
      const auto got = source_.read(from, room);
      const auto known = std::min<std::uint64_t>(hashed_ - from, got);
      checksum_.update(room.first(got).subspan(known));
      hashed_ = std::max(hashed_, from + got);
      filled_ += got;
      ended_ = got < room.size() || end() == source_.size();
    }
  }

  [[nodiscard]] http::Request chunk() const {
    const auto last = std::to_string(end() - 1);
    const auto total = ended_           ? std::to_string(end())
                       : source_.size() ? std::to_string(*source_.size())
                                        : "*";
    const auto range = filled_ == 0 ? "*" : std::to_string(start_) + "-" + last;
    http::Request request{.method = "PUT",
                          .url = upload_url_,
                          .headers = {{"Content-Range", "bytes " + range + "/" + total}}};
    if (filled_ > 0) request.body = {{buffer_.get(), filled_}};
    if (ended_)
      request.headers.push_back({"X-Goog-Hash", "crc32c=" + http::base64_of(checksum_.value())});
    return request;
  }

  /// Returns a request that asks how many bytes the service has.
  [[nodiscard]] http::Request question() const {
    return {.method = "PUT", .url = upload_url_, .headers = {{"Content-Range", "bytes */*"}}};
  }

  /// Sends a request. Returns nothing if the connection broke or the service asked to wait; then
  /// the upload has to ask how many bytes it has.
  std::optional<http::Response> attempt(const http::Request& request) {
    return session_.attempt(attempts_, request, operation_);
  }

  /// Returns the number of bytes that the service has stored.
  [[nodiscard]] std::uint64_t kept(const http::Response& response) const {
    const auto range = response.find("Range");
    if (!range) return 0;
    constexpr std::string_view begin = "bytes=0-";
    const auto last = range->starts_with(begin)
                          ? parse_number<std::uint64_t>(range->substr(begin.size()))
                          : std::nullopt;
    if (last && *last < end()) return *last + 1;
    throw http::TrustError{"the service confirms bytes that were not sent",
                           {.object = operation_.object}};
  }

  void go_on_from(std::uint64_t offset) {
    if (offset > furthest_) attempts_.progressed();
    furthest_ = std::max(furthest_, offset);
    if (offset <= start_ && !attempts_.wait("no byte of the chunk was kept")) {
      throw Error{"the service keeps nothing of what is sent", {.object = operation_.object}};
    }
    if (offset < start_) return rewind(offset);
    filled_ = end() - offset;
    std::memmove(buffer_.get(), buffer_.get() + (offset - start_), filled_);
    start_ = offset;
    if (progress_) progress_(start_);
  }

  void start_again() {
    if (!attempts_.wait("the upload is not known any more; beginning again")) {
      throw Error{"the service forgot the upload several times", {.object = operation_.object}};
    }
    rewind(0);
    begin();
  }

  void rewind(std::uint64_t offset) {
    const bool in_memory = offset == start_;
    if (!in_memory && !source_.rewinds()) {
      throw Error{"the service lost what it had confirmed, and a stream cannot be read again",
                  {.object = operation_.object}};
    }
    if (in_memory) return;
    start_ = offset;
    filled_ = 0;
    ended_ = false;
  }

  const Client& client_;
  Session& session_;
  const Uri& uri_;
  ByteSource& source_;
  const WriteOptions& options_;
  const Progress& progress_;
  std::size_t capacity_;
  Operation operation_;
  http::Retry attempts_;
  http::Url upload_url_ = {};  ///< a secret
  std::unique_ptr<std::byte[]> buffer_;
  std::uint64_t start_ = 0;     ///< offset of the buffer's first byte
  std::uint64_t filled_ = 0;    ///< bytes in the buffer
  bool ended_ = false;          ///< true if the buffer reaches the end of the content
  std::uint64_t furthest_ = 0;  ///< most bytes that the service has confirmed so far
  std::uint64_t hashed_ = 0;    ///< bytes in the checksum
  Crc32c checksum_;
};

}  // namespace seqtrain::gcs
