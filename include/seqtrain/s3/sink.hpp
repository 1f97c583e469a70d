#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <openssl/sha.h>

#include <seqtrain/buckets/store.hpp>
#include <seqtrain/s3/open.hpp>
#include <seqtrain/s3/upload.hpp>

namespace seqtrain::s3 {

/// Options of `Sink`.
struct SinkOptions {
  s3::ClientOptions client = {};
  s3::UploadOptions upload = {};
  buckets::DownloadOptions download = {};
};

/// Writes objects of S3, for `buckets::Store`.
struct Writer {
  Client client;
  UploadOptions upload = {};
  buckets::DownloadOptions download = {};

  /// Returns a number for one version of an object. Equal contents have equal ETags, so the token
  /// of the write counts too, or for another program's object the time at which it was written.
  static std::int64_t generation_of(const ObjectInfo& object) {
    const auto& write = object.written_by.empty() ? object.modified : object.written_by;
    const auto text = object.etag + '\n' + write;
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number = number << 8 | digest[i];
    return static_cast<std::int64_t>(number >> 1 | 1);
  }

  /// Writes an object, asks whether it can be read and whether the service keeps the conditions of
  /// later writes, and removes the object.
  void try_writing(const Uri& uri) const {
    if (keeps_conditions(uri)) return;
    throw InputError{
        "the service ignores or refuses If-None-Match or If-Match, so two runs could overwrite "
        "each other's checkpoints",
        {.object = uri.text()},
        "use a service with conditional writes"};
  }

  void put(const Uri& uri, std::span<const std::byte> bytes) const { client.put(uri, bytes); }

  void put_file(const Uri& uri, const std::filesystem::path& file) const {
    s3::upload_file(client, uri, file, upload);
  }

  /// Returns the new generation, or nothing if the object has another one. The condition is the
  /// ETag, so of two writers only one can replace an object.
  [[nodiscard]] std::optional<std::int64_t> put_if(const Uri& uri, std::span<const std::byte> bytes,
                                                   std::int64_t generation) const {
    const auto current = generation == 0 ? std::nullopt : client.find(uri);
    if (generation != 0 && (!current || generation_of(*current) != generation)) return {};
    try {
      return generation_of(
          client.put(uri, bytes, {.if_etag = current ? current->etag : std::string{}}));
    } catch (const PreconditionFailed&) {
      return {};
    } catch (const NotFound&) {  // removed meanwhile
      if (generation != 0) return {};
      throw;
    }
  }

 private:
  [[nodiscard]] bool keeps_conditions(const Uri& uri) const {
    try {
      client.put(uri, "written to see whether it can be", {.if_etag = ""});
    } catch (const NotImplemented&) {
      return false;
    }
    bool kept = false;
    try {
      static_cast<void>(client.stat(uri));
      kept = refuses(uri, "") && refuses(uri, std::string(32, '0'));
    } catch (...) {
      remove_quietly(uri);
      throw;
    }
    client.remove(uri);
    return kept;
  }

  /// Removes an object after a failure, which says more than one of the removal.
  void remove_quietly(const Uri& uri) const {
    try {
      client.remove(uri);
    } catch (const Error& error) {
      if (client.log()) client.log()("not removed: " + std::string{error.what()});
    }
  }

  /// Tells whether the service keeps a condition that does not hold.
  [[nodiscard]] bool refuses(const Uri& uri, const std::string& etag) const {
    try {
      static_cast<void>(client.put(uri, "must not be written", {.if_etag = etag}));
      return false;
    } catch (const PreconditionFailed&) {
      return true;
    } catch (const NotImplemented&) {
      return false;
    }
  }
};

/// A store below an s3:// address in S3, or in a service that speaks as S3. An object is verified
/// and durable when `put` returns; an upload that fails leaves the object as it was before.
class Sink : public buckets::Store<Writer> {
 public:
  /// Throws `InputError` if the address is malformed or there are no credentials.
  explicit Sink(std::string_view uri, const SinkOptions& options = {})
      : Sink{s3::Uri::parse(uri), options} {}
  explicit Sink(const s3::Uri& prefix, const SinkOptions& options = {})
      : Sink{s3::open_client(options.client), prefix, options.upload, options.download} {}
  Sink(s3::Client client, const s3::Uri& prefix, s3::UploadOptions upload = {},
       buckets::DownloadOptions download = {})
      : Store{Writer{std::move(client), std::move(upload), std::move(download)}, prefix} {}
};

}  // namespace seqtrain::s3
