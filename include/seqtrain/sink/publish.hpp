#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/mapped_file.hpp>

namespace seqtrain::sink {

/// The files that `names`, files and directories of `directory`, stand for: paths from there, those
/// of a directory sorted.
inline std::vector<std::string> files_below(const std::filesystem::path& directory,
                                            std::span<const std::string> names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (!std::filesystem::is_directory(directory / name)) {
      files.push_back(name);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    for (const auto& entry : std::filesystem::recursive_directory_iterator{directory / name}) {
      if (!entry.is_regular_file()) continue;
      files.push_back(entry.path().lexically_relative(directory).generic_string());
    }
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

/// Puts files and directories of `directory` into the sink under `prefix`, then `manifest.json`
/// with their sizes and checksums, and waits until all of it is durable: where there is no
/// manifest, something is missing. Throws `Error`, which says that the files are still in
/// `directory`.
template <Sink S>
void publish(S& sink, const std::filesystem::path& directory, std::span<const std::string> names,
             const std::string& prefix) {
  json::Writer manifest{2};
  manifest.begin_object().key("files").begin_array();
  try {
    for (const std::string& name : files_below(directory, names)) {
      sink.put_file(prefix + "/" + name, directory / name);
      const MappedFile file{directory / name};
      manifest.begin_object().member("name", std::string_view{name});
      manifest.member("size", file.size())
          .member("crc32c", Crc32c{}.update(file.bytes()).value())
          .end_object();
    }
    sink.flush();
    const std::string text = manifest.end_array().end_object().text() + "\n";
    sink.put(prefix + "/manifest.json", std::as_bytes(std::span{text}));
    sink.flush();
  } catch (const Error& error) {
    throw Error{error.what(), {}, "all of it is still in " + directory.string()};
  }
}

}  // namespace seqtrain::sink
