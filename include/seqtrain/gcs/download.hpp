#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/gcs/client.hpp>
#include <seqtrain/gcs/resumable_upload.hpp>

namespace seqtrain::gcs {

/// Options of `download`.
struct DownloadOptions {
  std::uint64_t range_bytes = std::uint64_t{32} << 20;  ///< bytes of one request
  std::size_t threads = 4;  ///< ranges that are fetched at the same time
  Progress progress = {};

  void validate() const {
    if (range_bytes > 0 && threads > 0 && threads <= 64) return;
    throw InputError{"needs a range size above 0 and 1 to 64 threads",
                     {.object = "download options"}};
  }
};

namespace detail {

/// Fetches all ranges of one generation into a file that is not visible yet.
class RangedDownload {
 public:
  RangedDownload(const Client& client, const ObjectInfo& object, const AtomicFile& file,
                 const DownloadOptions& options)
      : client_{client}, object_{object}, file_{file}, options_{options} {}

  /// Fetches all ranges and returns the checksum of their content.
  Crc32c run() {
    const auto count = (object_.size + options_.range_bytes - 1) / options_.range_bytes;
    std::vector<Crc32c> checksums(count);
    run_parallel(options_.threads, count, [&](std::size_t i) { checksums[i] = fetch(i); });
    Crc32c whole;
    for (std::size_t i = 0; i < count; ++i) whole.append(checksums[i], size_of(i));
    return whole;
  }

 private:
  [[nodiscard]] std::uint64_t size_of(std::size_t i) const {
    return std::min(options_.range_bytes, object_.size - i * options_.range_bytes);
  }

  Crc32c fetch(std::size_t i) {
    auto offset = i * options_.range_bytes;
    Crc32c checksum;
    client_.read(object_, offset, size_of(i), [&](std::span<const std::byte> bytes) {
      file_.write_at(offset, bytes);
      checksum.update(bytes);
      offset += bytes.size();
      report(bytes.size());
    });
    return checksum;
  }

  void report(std::size_t bytes) {
    if (!options_.progress) return;
    const std::lock_guard lock{mutex_};
    options_.progress(done_ += bytes);
  }

  const Client& client_;
  const ObjectInfo& object_;
  const AtomicFile& file_;
  const DownloadOptions& options_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
};

}  // namespace detail

/// Fetches one generation of an object into the file `path`, which appears when it is complete and
/// its checksum is right. If the checksum is wrong, it fetches the object once more.
inline void download_generation(const Client& client, const ObjectInfo& object,
                                const std::filesystem::path& path,
                                const DownloadOptions& options = {}) {
  options.validate();
  for (int attempt = 0;; ++attempt) {
    AtomicFile file{path};
    const auto checksum = detail::RangedDownload{client, object, file, options}.run();
    if (attempt > 0 || !object.crc32c) Client::verify(object, checksum);
    if (object.crc32c == checksum) return file.commit();
    const auto& log = client.service().options().log;
    if (log) log(object.uri.text() + ": arrived with a wrong checksum; fetching it again");
  }
}

/// Fetches the current generation of an object. Starts again if the object is overwritten
/// meanwhile.
inline ObjectInfo download(const Client& client, const Uri& uri, const std::filesystem::path& path,
                           const DownloadOptions& options = {}) {
  for (int attempt = 0;; ++attempt) {
    const auto object = client.stat(uri);
    try {
      download_generation(client, object, path, options);
      return object;
    } catch (const NotFound&) {
      if (attempt == 2) throw;
    }
  }
}

}  // namespace seqtrain::gcs
