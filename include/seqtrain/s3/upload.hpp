#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/buckets/byte_source.hpp>
#include <seqtrain/buckets/download.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/s3/client.hpp>

namespace seqtrain::s3 {

/// Options of `upload_file`.
struct UploadOptions {
  /// The size of a part, and the memory of a connection. Amazon takes no part below 5 MiB.
  std::uint64_t part_bytes = std::uint64_t{8} << 20;
  std::uint64_t one_request_bytes = std::uint64_t{8} << 20;  ///< largest file sent in one request
  std::size_t threads = 4;  ///< parts that are sent at the same time
  buckets::Progress progress = {};

  void validate() const {
    if (part_bytes > 0 && threads > 0 && threads <= 64) return;
    throw InputError{"needs a part size above 0 and 1 to 64 threads", {.object = "upload options"}};
  }
};

namespace detail {

/// Writes one object in parts. It becomes visible with the last request, which carries the checksum
/// of the whole. An upload that fails is aborted, so the service keeps no parts of it.
class PartedUpload {
 public:
  PartedUpload(const Client& client, const Uri& uri, const buckets::FileSource& file,
               const UploadOptions& options)
      : client_{client}, operation_{uri, "s3:PutObject"}, file_{file}, options_{options} {
    constexpr std::uint64_t most_parts = 10'000;
    const auto size = *file.size();
    if (size > buckets::most_object_bytes)
      throw InputError{"is larger than 5 TiB", {.object = uri.text()}};
    constexpr std::uint64_t smallest_part = std::uint64_t{5} << 20;
    if (!client.session().options().endpoint && options.part_bytes < smallest_part) {
      throw InputError{"Amazon takes no parts below 5 MiB", {.object = "upload options"}};
    }
    part_bytes_ = std::max(options.part_bytes, (size + most_parts - 1) / most_parts);
    parts_.resize((size + part_bytes_ - 1) / part_bytes_);
  }

  /// Sends the file, and once more from its beginning if the service loses the upload.
  void run() {
    for (bool may_repeat = true;; may_repeat = false) {
      begin();
      try {
        run_parallel(options_.threads, parts_.size(), [this](std::size_t i) { send(i); });
        return finish();
      } catch (const NotFound& error) {
        abort();
        if (!may_repeat || joined_) throw;
        const auto& log = client_.log();
        if (log) log(std::string{error.what()} + "; the upload begins again");
      } catch (...) {
        abort();
        throw;
      }
    }
  }

 private:
  struct Part {
    std::string etag;
    Crc32c checksum;
  };

  [[nodiscard]] std::uint64_t size_of(std::size_t i) const {
    return std::min(part_bytes_, *file_.size() - i * part_bytes_);
  }

  http::Response call(const http::Request& request) const {
    return client_.session().call(request, operation_);
  }

  void begin() {
    auto request = object_request("POST", operation_.uri, "uploads=");
    request.headers = {{"Content-Type", "application/octet-stream"},
                       {"x-amz-checksum-algorithm", "CRC32C"},
                       {"x-amz-checksum-type", "FULL_OBJECT"},
                       {Client::token_header, token_}};
    const auto response = call(request);
    client_.session().demand_success(response, operation_);
    upload_ = XmlReader::parse(response.body, where()).text_of("UploadId");
    if (upload_.empty()) throw Error{"the service opened no upload", where()};
    done_ = 0;
  }

  void send(std::size_t i) {
    auto content = file_.part(i * part_bytes_, size_of(i));
    std::vector<std::byte> bytes(size_of(i));
    content.read(0, bytes);
    parts_[i].checksum = Crc32c{}.update(bytes);
    auto request = object_request(
        "PUT", operation_.uri,
        "partNumber=" + std::to_string(i + 1) + "&uploadId=" + http::percent_encode(upload_));
    request.headers = {{"x-amz-sdk-checksum-algorithm", "CRC32C"},
                       {"x-amz-checksum-crc32c", http::base64_of(parts_[i].checksum.value())}};
    request.body = {bytes};
    const auto response = call(request);
    client_.session().demand_success(response, operation_);
    Client::confirm(response, bytes, parts_[i].checksum, operation_.uri);
    parts_[i].etag = response.find("ETag").value_or("");
    if (!options_.progress) return;
    const std::lock_guard lock{mutex_};
    options_.progress(done_ += bytes.size());
  }

  /// Returns the parts in XML. An ETag has characters that XML allows, or it is refused.
  [[nodiscard]] std::string list_of_parts() const {
    std::string text = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto etag = plain_etag(parts_[i].etag);
      if (etag.find_first_of("<>&\"") != etag.npos) throw Error{"an ETag is broken", where()};
      text += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>\"" + etag +
              "\"</ETag><ChecksumCRC32C>" + http::base64_of(parts_[i].checksum.value()) +
              "</ChecksumCRC32C></Part>";
    }
    return text + "</CompleteMultipartUpload>";
  }

  void finish() {
    Crc32c whole;
    for (std::size_t i = 0; i < parts_.size(); ++i) whole.append(parts_[i].checksum, size_of(i));
    const auto body = list_of_parts();
    auto request =
        object_request("POST", operation_.uri, "uploadId=" + http::percent_encode(upload_));
    request.headers = {{"Content-Type", "application/xml"},
                       {"x-amz-checksum-crc32c", http::base64_of(whole.value())},
                       {"x-amz-checksum-type", "FULL_OBJECT"}};
    request.body = {http::bytes_of(body)};
    // While it joins, the service sends spaces after the status 200. An error may follow them.
    const auto response = call(request);
    if (response.status != 404 || !is_done()) {
      client_.session().demand_success(response, operation_);
      if (!is_joined(response)) {
        throw Error{"the service did not confirm that it joined the parts", where()};
      }
    }
    joined_ = true;
    check_stored(whole);
  }

  /// Tells whether this upload has been done already, so that the service has forgotten it.
  [[nodiscard]] bool is_done() const {
    const auto object = client_.find(operation_.uri);
    return object && object->written_by == token_;
  }

  static bool is_joined(const http::Response& response) {
    try {
      return XmlReader::parse(response.body).name == "CompleteMultipartUploadResult";
    } catch (const InputError&) {
      return false;
    }
  }

  /// Throws, and removes the object, if the service has stored other bytes than were sent. An
  /// account that may write but not read relies on the service's own check.
  void check_stored(Crc32c whole) const {
    ObjectInfo stored;
    try {
      stored = client_.stat(operation_.uri);
    } catch (const Forbidden&) {
      return;
    }
    if (stored.written_by != token_) return;  // another writer was later
    const bool known = stored.checksum.kind == Checksum::crc32c;
    const bool right = !known || stored.checksum.text == http::base64_of(whole.value());
    if (right && stored.size == *file_.size()) return;
    client_.remove(operation_.uri);
    throw Error{"the stored object differs in size or checksum from what was sent and was removed",
                where()};
  }

  void abort() const noexcept {
    try {
      const auto query = "uploadId=" + http::percent_encode(upload_);
      const auto response = call(object_request("DELETE", operation_.uri, query));
      if (response.succeeded() || response.status == 404) return;
      client_.session().fail(response, operation_);
    } catch (const std::exception& error) {
      const auto& log = client_.log();
      if (log) log("an upload could not be aborted: " + std::string{error.what()});
    }
  }

  [[nodiscard]] Where where() const { return {.object = operation_.uri.text()}; }

  const Client& client_;
  Operation operation_;
  const buckets::FileSource& file_;
  const UploadOptions& options_;
  std::uint64_t part_bytes_ = 0;
  std::vector<Part> parts_;
  bool joined_ = false;  // the service has made the object of the parts
  std::string token_ = random_token();
  std::string upload_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
};

}  // namespace detail

/// Writes a file as one object: in one request if it is small, otherwise in parallel parts.
inline void upload_file(const Client& client, const Uri& uri, const std::filesystem::path& path,
                        const UploadOptions& options = {}) {
  options.validate();
  buckets::FileSource file{path};
  if (*file.size() > options.one_request_bytes) {
    return detail::PartedUpload{client, uri, file, options}.run();
  }
  std::vector<std::byte> bytes(*file.size());
  file.read(0, bytes);
  client.put(uri, bytes);
  if (options.progress) options.progress(bytes.size());
}

}  // namespace seqtrain::s3
