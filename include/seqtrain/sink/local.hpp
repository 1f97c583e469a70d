#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/writable.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {

/// A directory on a mounted disk. Keys are paths below `root`; what is needed of the way there is
/// created. An object is durable when `put` returns.
class Local {
 public:
  /// Throws `InputError` where `root` cannot be written; creates nothing yet.
  explicit Local(std::filesystem::path root) : root_{std::move(root)} { check_writable(root_); }

  void put(std::string_view key, std::span<const std::byte> bytes) {
    AtomicFile file{prepare(key)};
    file.write(bytes);
    file.commit();
  }

  void put_file(std::string_view key, const std::filesystem::path& file) {
    std::ifstream in{file, std::ios::binary};
    if (!in) throw Error{"cannot be read", {.object = file.string()}};
    std::vector<char> piece(std::size_t{1} << 20);
    AtomicFile out{prepare(key)};
    while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0) {
      out.write(std::string_view{piece.data(), static_cast<std::size_t>(in.gcount())});
    }
    if (!in.eof()) throw Error{"cannot be read", {.object = file.string()}};
    out.commit();
  }

  void flush() {}

  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }

 private:
  /// The path of an object whose directory is there for certain.
  [[nodiscard]] std::filesystem::path prepare(std::string_view key) const {
    check_key(key);
    std::filesystem::path path = root_ / key;
    std::error_code error;
    if (std::filesystem::create_directories(path.parent_path(), error)) sync_above(path);
    if (error) throw Error{"cannot be created: " + error.message(), {.object = path.string()}};
    return path;
  }

  /// Makes the names of new directories durable. Best effort: some file systems cannot do it.
  static void sync_above(const std::filesystem::path& path) {
    auto directory = std::filesystem::absolute(path).parent_path();
    do {
      directory = directory.parent_path();
      sync_directory(directory);
    } while (directory != directory.parent_path());
  }

  std::filesystem::path root_;
};

}  // namespace seqtrain::sink
