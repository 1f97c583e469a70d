#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/gcs/download.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/gcs/upload.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::gcs {

/// Options of `Sink`.
struct SinkOptions {
  gcs::ClientOptions client = {};
  gcs::UploadOptions upload = {};
  gcs::DownloadOptions download = {};
};

/// A store below a gs:// address in Google Cloud Storage. An object is verified and durable when
/// `put` returns; an upload that fails leaves the object as it was before.
class Sink {
 public:
  /// Throws `InputError` if the address is malformed or there are no credentials.
  explicit Sink(std::string_view uri, const SinkOptions& options = {})
      : Sink{gcs::Uri::parse(uri), options} {}
  explicit Sink(const gcs::Uri& prefix, const SinkOptions& options = {})
      : Sink{gcs::open_client(options.client), prefix, options.upload, options.download} {}
  Sink(gcs::Client client, const gcs::Uri& prefix, gcs::UploadOptions upload = {},
       gcs::DownloadOptions download = {})
      : client_{std::move(client)},
        prefix_{prefix.as_directory()},
        upload_{std::move(upload)},
        download_{std::move(download)} {}

  /// Writes a small object below the prefix and removes it again. Call it before the work whose
  /// results go here: it throws `InputError`, which names account and permission, if the bucket is
  /// missing or must not be written.
  void check_writable() const {
    const auto number = static_cast<unsigned long long>(http::random_unit() * 1e15);
    const auto uri = prefix_.child(".seqtrain-check-" + std::to_string(number));
    const auto written = client_.put(uri, "written to see whether it can be", {.if_generation = 0});
    client_.remove(uri, written.generation);
  }

  [[nodiscard]] std::string name() const { return prefix_.text(); }

  void put(std::string_view key, std::span<const std::byte> bytes) {
    const auto uri = place(key);
    run([&] { gcs::upload(client_, uri, bytes, upload_); });
  }

  void put_file(std::string_view key, const std::filesystem::path& file) {
    const auto uri = place(key);
    run([&] { gcs::upload_file(client_, uri, file, upload_); });
  }

  void flush() {}

  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    const auto directory = key.empty() ? prefix_ : place(key).as_directory();
    std::vector<std::string> keys;
    const auto add = [&](const gcs::ObjectInfo& object) {
      const bool placeholder = object.uri.name.ends_with('/');  // a folder that a console created
      if (!placeholder) keys.push_back(object.uri.name.substr(prefix_.name.size()));
    };
    run([&] { client_.list(directory, add); });
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  [[nodiscard]] std::optional<sink::Stored> get(std::string_view key) const {
    sink::Stored stored;
    const bool found = fetch(key, [&](const gcs::ObjectInfo& object) {
      stored = {{}, object.generation};
      client_.read(object, 0, object.size, [&](std::span<const std::byte> bytes) {
        stored.bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      });
      gcs::Client::verify(object, Crc32c{}.update(stored.bytes));
    });
    return found ? std::optional{std::move(stored)} : std::nullopt;
  }

  bool get_file(std::string_view key, const std::filesystem::path& file) const {
    return fetch(key, [&](const gcs::ObjectInfo& object) {
      gcs::download_generation(client_, object, file, download_);
    });
  }

  /// Writes the object only if it has that generation; 0 means that there is no object yet. Returns
  /// the new generation, or nothing if it did not write. If the answer is lost, the write counts as
  /// done if the object holds exactly these bytes, so different writers must write different bytes.
  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    const auto uri = place(key);
    auto options = upload_;
    options.write.if_generation = generation;
    std::optional<std::int64_t> written;
    try {
      run([&] { written = gcs::upload(client_, uri, bytes, options).generation; });
    } catch (const gcs::PreconditionFailed&) {  // nothing is written
    }
    return written;
  }

  void remove(std::string_view key) {
    const auto uri = place(key);
    run([&] { client_.remove(uri); });
  }

  /// Makes calls under way end soon with an `Error`, and later calls at once. Any thread may call
  /// it.
  void cancel() noexcept { client_.cancel(); }

 private:
  [[nodiscard]] gcs::Uri place(std::string_view key) const {
    sink::check_key(key);
    auto uri = prefix_.child(key);
    uri.validate();
    return uri;
  }

  /// Turns the client's `InputError` into `Error`: in the middle of a run a refusal is not the
  /// input's fault.
  template <class Action>
  static void run(const Action& action) {
    try {
      action();
    } catch (const InputError& error) {
      throw Error{error.what()};
    }
  }

  /// Hands the object as it is now to `read`, and starts again if the object is overwritten
  /// meanwhile. Returns false if there is none.
  template <class Read>
  bool fetch(std::string_view key, const Read& read) const {
    constexpr int most_attempts = 3;
    const auto uri = place(key);
    bool found = false;
    run([&] {
      for (int attempt = 1; !found; ++attempt) {
        const auto object = client_.find(uri);
        if (!object) return;
        try {
          read(*object);
          found = true;
        } catch (const gcs::NotFound&) {
          if (attempt == most_attempts) throw;
        }
      }
    });
    return found;
  }

  gcs::Client client_;
  gcs::Uri prefix_;
  gcs::UploadOptions upload_;
  gcs::DownloadOptions download_;
};

}  // namespace seqtrain::gcs
