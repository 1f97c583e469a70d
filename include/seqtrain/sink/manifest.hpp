#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {

/// What a folder holds when all of it is there: the files' names, sizes and checksums. It is
/// written last, as `manifest.json`: a folder without one is not whole.
class Manifest {
 public:
  static constexpr std::string_view file_name = "manifest.json";

  struct Entry {
    std::string name;  ///< relative to the manifest, with `/`
    std::uint64_t size = 0;
    std::uint32_t crc32c = 0;
  };

  /// Reads one. Throws `InputError` where it is none.
  static Manifest load(const std::filesystem::path& file) {
    const auto document = json::Document::load(file);
    Manifest manifest;
    for (const auto& item : document.root().at("files").items()) {
      Entry entry{.name = std::string{item.at("name").string()}};
      check_key(entry.name);
      entry.size = static_cast<std::uint64_t>(item.at("size").integer());
      entry.crc32c = static_cast<std::uint32_t>(item.at("crc32c").integer());
      manifest.entries_.push_back(std::move(entry));
    }
    return manifest;
  }

  /// Takes in the file `name` of `directory` as it is now.
  void add(const std::filesystem::path& directory, const std::string& name) {
    const MappedFile file{directory / name};
    entries_.push_back({name, file.size(), Crc32c{}.update(file.bytes()).value()});
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  [[nodiscard]] std::string to_json() const {
    json::Writer out{2};
    out.begin_object().key("files").begin_array();
    for (const Entry& entry : entries_) {
      out.begin_object()
          .member("name", std::string_view{entry.name})
          .member("size", entry.size)
          .member("crc32c", entry.crc32c)
          .end_object();
    }
    return out.end_array().end_object().text() + "\n";
  }

  /// Throws `InputError` unless each file is in `directory`, of its size and with its checksum.
  void check(const std::filesystem::path& directory) const {
    for (const Entry& entry : entries_) {
      const MappedFile file{directory / entry.name};
      const auto fail = [&](const std::string& problem) {
        throw InputError{problem, {.object = (directory / entry.name).string()}};
      };
      if (file.size() != entry.size) {
        fail("has " + std::to_string(file.size()) + " bytes, its manifest says " +
             std::to_string(entry.size));
      }
      if (Crc32c{}.update(file.bytes()).value() != entry.crc32c) {
        fail("its bytes are not those that were written: the checksum differs");
      }
    }
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace seqtrain::sink
