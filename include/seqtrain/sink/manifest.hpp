#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
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

/// The names, sizes and checksums of a folder's files. It is written last, as `manifest.json`, so a
/// folder without one is incomplete.
class Manifest {
 public:
  static constexpr std::string_view file_name = "manifest.json";

  /// One file of the folder.
  struct Entry {
    std::string name;  ///< relative to the manifest, with `/`
    std::uint64_t size = 0;
    std::uint32_t crc32c = 0;
  };

  /// Reads a manifest. Throws `InputError` if the text is no manifest; `where` names it in errors.
  static Manifest parse(std::string_view text, const std::string& where) {
    const auto document = json::Document::parse(text, where);
    Manifest manifest;
    if (const auto run = document.root().find("run")) manifest.run = run->string();
    for (const auto& item : document.root().at("files").items()) {
      Entry entry{.name = std::string{item.at("name").string()}};
      check_key(entry.name);
      entry.size = static_cast<std::uint64_t>(item.at("size").integer());
      entry.crc32c = static_cast<std::uint32_t>(item.at("crc32c").integer());
      manifest.entries_.push_back(std::move(entry));
    }
    return manifest;
  }

  /// Reads a manifest from a file.
  static Manifest load(const std::filesystem::path& file) {
    return parse(MappedFile{file}.text(), file.string());
  }

  /// Adds the file `name` of `directory` with its present size and checksum.
  void add(const std::filesystem::path& directory, const std::string& name) {
    const MappedFile file{directory / name};
    entries_.push_back({name, file.size(), Crc32c{}.update(file.bytes()).value()});
  }

  void add(Entry entry) { entries_.push_back(std::move(entry)); }

  std::string run = {};  ///< id of the run that wrote the folder; empty if it has none

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  [[nodiscard]] std::string to_json() const {
    json::Writer out{2};
    out.begin_object();
    if (!run.empty()) out.member("run", std::string_view{run});
    append(out, entries_);
    return out.end_object().text() + "\n";
  }

  /// Appends files as the member `files` of an object.
  static void append(json::Writer& out, std::span<const Entry> entries) {
    out.key("files").begin_array();
    for (const Entry& entry : entries) {
      out.begin_object().member("name", std::string_view{entry.name});
      out.member("size", entry.size).member("crc32c", entry.crc32c).end_object();
    }
    out.end_array();
  }

  /// Throws `InputError` unless `directory` has each file with its size and checksum.
  void check(const std::filesystem::path& directory) const {
    for (const Entry& entry : entries_) {
      const MappedFile file{directory / entry.name};
      check(entry, file.bytes(), (directory / entry.name).string());
    }
  }

  /// Throws `InputError` unless `bytes` have the entry's size and checksum.
  static void check(const Entry& entry, std::span<const std::byte> bytes,
                    const std::string& where) {
    if (bytes.size() != entry.size) {
      throw InputError{"has " + std::to_string(bytes.size()) + " bytes, its manifest says " +
                           std::to_string(entry.size),
                       {.object = where}};
    }
    if (Crc32c{}.update(bytes).value() != entry.crc32c) {
      throw InputError{"is damaged: its checksum differs from the manifest's", {.object = where}};
    }
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace seqtrain::sink
