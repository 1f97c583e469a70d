#pragma once

#include <filesystem>
#include <optional>

#include <seqtrain/buckets/download.hpp>
#include <seqtrain/gcs/client.hpp>

namespace seqtrain::gcs {

using buckets::DownloadOptions;

/// Fetches one generation of an object into the file `path`, which appears when it is complete and
/// its checksum is right. If the checksum is wrong, it fetches the object once more.
inline void download_generation(const Client& client, const ObjectInfo& object,
                                const std::filesystem::path& path,
                                const DownloadOptions& options = {}) {
  buckets::download_version(client, object, path, options);
}

/// Fetches the current generation of an object. Starts again if the object is overwritten
/// meanwhile.
inline ObjectInfo download(const Client& client, const Uri& uri, const std::filesystem::path& path,
                           const DownloadOptions& options = {}) {
  ObjectInfo found;
  buckets::read_current([&] { return std::optional{client.stat(uri)}; },
                        [&](const ObjectInfo& object) {
                          buckets::download_version(client, object, path, options);
                          found = object;
                        });
  return found;
}

}  // namespace seqtrain::gcs
