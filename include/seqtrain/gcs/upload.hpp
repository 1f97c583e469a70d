#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/gcs/resumable_upload.hpp>

namespace seqtrain::gcs {

/// Options of `upload`.
struct UploadOptions {
  WriteOptions write = {};
  std::size_t chunk_bytes = std::size_t{8} << 20;        ///< memory of each connection
  std::size_t one_request_bytes = std::size_t{8} << 20;  ///< largest object sent in one request
  std::uint64_t parallel_bytes = 256U << 20;  ///< smallest file that is sent in parallel parts
  std::size_t threads = 4;                    ///< threads of a parallel upload
  Progress progress = {};

  void validate() const {
    if (chunk_bytes > 0 && threads > 0 && threads <= 32) return;
    throw InputError{"needs a chunk size above 0 and 1 to 32 threads",
                     {.object = "upload options"}};
  }
};

/// Writes the content of `source` as one object: in one request if it is small, otherwise in
/// chunks.
inline ObjectInfo upload(const Client& client, const Uri& uri, ByteSource& source,
                         const UploadOptions& options = {}) {
  options.validate();
  const auto size = source.size();
  if (!size || *size > options.one_request_bytes) {
    return ResumableUpload{client,          uri, source, options.write, options.chunk_bytes,
                           options.progress}
        .run();
  }
  std::vector<std::byte> bytes(*size);
  source.read(0, bytes);
  auto info = client.put(uri, bytes, options.write);
  if (options.progress) options.progress(*size);
  return info;
}

/// Uploads bytes in memory.
inline ObjectInfo upload(const Client& client, const Uri& uri, std::span<const std::byte> bytes,
                         const UploadOptions& options = {}) {
  MemorySource source{bytes};
  return upload(client, uri, source, options);
}

namespace detail {

/// Uploads the parts of a large file as temporary objects beside the final one, and removes them at
/// the end.
class ParallelUpload {
 public:
  ParallelUpload(const Client& client, const Uri& uri, const FileSource& file,
                 const UploadOptions& options)
      : client_{client}, uri_{uri}, file_{file}, options_{options} {
    constexpr std::uint64_t most_parts = 32, granule = ResumableUpload::granule;
    const auto size = *file.size();
    const auto wanted = std::max(std::uint64_t{options.chunk_bytes}, (size - 1) / most_parts + 1);
    part_bytes_ = (wanted + granule - 1) / granule * granule;
    parts_.resize((size - 1) / part_bytes_ + 1);
    done_.resize(parts_.size());
    prefix_ = uri.name + ".parts-" +
              std::to_string(static_cast<std::uint64_t>(http::random_unit() * 1e18));
  }
  ~ParallelUpload() {
    for (const auto& part : parts_) remove(part);
  }

  ObjectInfo run() {
    run_parallel(options_.threads, parts_.size(), [this](std::size_t i) { send(i); });
    Crc32c checksum;
    for (const auto& part : parts_) checksum.append(*part.crc32c, part.size);
    return client_.compose(parts_, uri_, *file_.size(), checksum, options_.write);
  }

 private:
  void send(std::size_t i) {
    const auto offset = i * part_bytes_;
    auto source = file_.part(offset, std::min(part_bytes_, *file_.size() - offset));
    const Uri uri{uri_.bucket, prefix_ + "-" + std::to_string(i)};
    const Progress progress = [this, i](std::uint64_t bytes) { report(i, bytes); };
    const WriteOptions write{.if_generation = 0};
    parts_[i] = ResumableUpload{client_, uri, source, write, options_.chunk_bytes, progress}.run();
    report(i, parts_[i].size);
  }

  void report(std::size_t i, std::uint64_t bytes) {
    const std::lock_guard lock{mutex_};
    total_ += bytes - std::exchange(done_[i], bytes);
    if (options_.progress) options_.progress(total_);
  }

  void remove(const ObjectInfo& part) const noexcept {
    if (part.uri.bucket.empty()) return;
    try {
      client_.remove(part.uri, part.generation);
    } catch (const std::exception& error) {
      const auto& log = client_.session().options().log;
      if (log) log("a part of an upload could not be removed: " + std::string{error.what()});
    }
  }

  const Client& client_;
  const Uri& uri_;
  const FileSource& file_;
  const UploadOptions& options_;
  std::uint64_t part_bytes_ = 0;
  std::string prefix_;
  std::vector<ObjectInfo> parts_;
  std::mutex mutex_;
  std::vector<std::uint64_t> done_;
  std::uint64_t total_ = 0;
};

}  // namespace detail

/// Writes a file as one object. A large file goes in parallel parts, which the service then joins.
/// `if_generation` is checked for the final object.
inline ObjectInfo upload_file(const Client& client, const Uri& uri,
                              const std::filesystem::path& path,
                              const UploadOptions& options = {}) {
  options.validate();
  FileSource file{path};
  const bool parallel = *file.size() >= options.parallel_bytes && *file.size() > 0;
  if (!parallel || options.threads == 1) return upload(client, uri, file, options);
  return detail::ParallelUpload{client, uri, file, options}.run();
}

}  // namespace seqtrain::gcs
