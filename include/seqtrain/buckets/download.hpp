#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include <seqtrain/buckets/byte_source.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/http/message.hpp>

namespace seqtrain::buckets {

/// Called with the number of bytes that are done. Several threads may call it, one at a time.
using Progress = std::function<void(std::uint64_t done)>;

/// The size of the largest object, 5 TiB, in the services of Amazon and Google.
inline constexpr std::uint64_t most_object_bytes = std::uint64_t{5} << 40;

/// The error that received bytes are not those of the object.
struct WrongChecksum : Error {
  using Error::Error;
};

/// Options of a download.
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

/// Fetches all ranges of one version into a file that is not visible yet.
template <class Client>
class RangedDownload {
 public:
  using Object = typename Client::Object;

  RangedDownload(const Client& client, const Object& object, const AtomicFile& file,
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
  const Object& object_;
  const AtomicFile& file_;
  const DownloadOptions& options_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
};

}  // namespace detail

/// Fetches one version of an object into the file `path`, which appears when it is complete and its
/// checksum is right. If the checksum is wrong, it fetches the object once more.
template <class Client>
void download_version(const Client& client, const typename Client::Object& object,
                      const std::filesystem::path& path, const DownloadOptions& options = {}) {
  options.validate();
  if (object.size > most_object_bytes) {
    throw Error{"no object is larger than 5 TiB", {.object = object.uri.text()}};
  }
  for (int attempt = 0;; ++attempt) {
    AtomicFile file{path};
    const auto checksum = detail::RangedDownload<Client>{client, object, file, options}.run();
    try {
      FileSource content{file.temporary()};
      client.verify(object, checksum, content);
      return file.commit();
    } catch (const WrongChecksum&) {
      if (attempt > 0) throw;
    }
    const auto& log = client.log();
    if (log) log(object.uri.text() + ": arrived with a wrong checksum; fetching it again");
  }
}

/// Calls `read` with the object as it is now, and again if it is overwritten meanwhile, which
/// `NotFound` tells. `find` returns the object, or nothing. Returns false if there is none.
template <class Find, class Read>
bool read_current(const Find& find, const Read& read) {
  constexpr int most_attempts = 3;
  for (int attempt = 1;; ++attempt) {
    const auto object = find();
    if (!object) return false;
    try {
      read(*object);
      return true;
    } catch (const http::NotFound&) {
      if (attempt == most_attempts) throw;
    }
  }
}

}  // namespace seqtrain::buckets
