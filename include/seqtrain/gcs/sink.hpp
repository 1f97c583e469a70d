#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <seqtrain/buckets/store.hpp>
#include <seqtrain/gcs/download.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/gcs/upload.hpp>

namespace seqtrain::gcs {

/// Options of `Sink`.
struct SinkOptions {
  gcs::ClientOptions client = {};
  gcs::UploadOptions upload = {};
  gcs::DownloadOptions download = {};
};

/// Writes objects of Google Cloud Storage, for `buckets::Store`.
struct Writer {
  Client client;
  UploadOptions upload = {};
  DownloadOptions download = {};

  /// Returns the number of a version of an object.
  static std::int64_t generation_of(const ObjectInfo& object) { return object.generation; }

  /// Writes an object and removes it again.
  void try_writing(const Uri& uri) const {
    const auto written = client.put(uri, "written to see whether it can be", {.if_generation = 0});
    client.remove(uri, written.generation);
  }

  void put(const Uri& uri, std::span<const std::byte> bytes) const {
    gcs::upload(client, uri, bytes, upload);
  }

  void put_file(const Uri& uri, const std::filesystem::path& file) const {
    gcs::upload_file(client, uri, file, upload);
  }

  /// Returns the new generation, or nothing if the object has another one. If the answer is lost,
  /// the write counts as done if the object holds exactly these bytes, so different writers must
  /// write different bytes.
  [[nodiscard]] std::optional<std::int64_t> put_if(const Uri& uri, std::span<const std::byte> bytes,
                                                   std::int64_t generation) const {
    auto options = upload;
    options.write.if_generation = generation;
    try {
      return gcs::upload(client, uri, bytes, options).generation;
    } catch (const PreconditionFailed&) {
      return {};
    }
  }
};

/// A store below a gs:// address in Google Cloud Storage. An object is verified and durable when
/// `put` returns; an upload that fails leaves the object as it was before.
class Sink : public buckets::Store<Writer> {
 public:
  /// Throws `InputError` if the address is malformed or there are no credentials.
  explicit Sink(std::string_view uri, const SinkOptions& options = {})
      : Sink{gcs::Uri::parse(uri), options} {}
  explicit Sink(const gcs::Uri& prefix, const SinkOptions& options = {})
      : Sink{gcs::open_client(options.client), prefix, options.upload, options.download} {}
  Sink(gcs::Client client, const gcs::Uri& prefix, gcs::UploadOptions upload = {},
       gcs::DownloadOptions download = {})
      : Store{Writer{std::move(client), std::move(upload), std::move(download)}, prefix} {}
};

}  // namespace seqtrain::gcs
