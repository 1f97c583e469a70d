#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/gcs/open.hpp>
#include <seqtrain/gcs/upload.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {

struct GcsOptions {
  gcs::ClientOptions client = {};
  gcs::UploadOptions upload = {};
};

/// A prefix of names in a bucket of Google Cloud Storage. An object is verified and durable when
/// `put` returns; an upload that fails leaves none, or the one that was there before.
class Gcs {
 public:
  /// Throws `InputError` for an address that is none, and where there are no credentials.
  explicit Gcs(std::string_view uri, const GcsOptions& options = {})
      : Gcs{gcs::Uri::parse(uri), options} {}
  explicit Gcs(const gcs::Uri& prefix, const GcsOptions& options = {})
      : Gcs{gcs::open_client(options.client), prefix, options.upload} {}
  Gcs(gcs::Client client, const gcs::Uri& prefix, gcs::UploadOptions upload = {})
      : client_{std::move(client)}, prefix_{prefix.as_directory()}, upload_{std::move(upload)} {}

  /// Writes a small object below the prefix and removes it again. To be called before work begins
  /// whose results go here: throws `InputError` if the bucket is not there or may not be written,
  /// naming account and permission.
  void check_writable() const {
    const auto number = static_cast<unsigned long long>(gcs::random_unit() * 1e15);
    const auto uri = prefix_.child(".seqtrain-check-" + std::to_string(number));
    const auto written = client_.put(uri, "written to see whether it can be", {.if_generation = 0});
    client_.remove(uri, written.generation);
  }

  void put(std::string_view key, std::span<const std::byte> bytes) {
    const auto uri = place(key);
    run([&] { gcs::upload(client_, uri, bytes, upload_); });
  }

  void put_file(std::string_view key, const std::filesystem::path& file) {
    const auto uri = place(key);
    run([&] { gcs::upload_file(client_, uri, file, upload_); });
  }

  void flush() {}

  [[nodiscard]] const gcs::Client& client() const noexcept { return client_; }
  [[nodiscard]] const gcs::Uri& prefix() const noexcept { return prefix_; }

 private:
  [[nodiscard]] gcs::Uri place(std::string_view key) const {
    check_key(key);
    auto uri = prefix_.child(key);
    uri.validate();
    return uri;
  }

  /// What is refused in the middle of a run is no longer the fault of its input.
  template <class Write>
  static void run(const Write& write) {
    try {
      write();
    } catch (const InputError& error) {
      throw Error{error.what()};
    }
  }

  gcs::Client client_;
  gcs::Uri prefix_;
  gcs::UploadOptions upload_;
};

}  // namespace seqtrain::sink
