#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/digest.hpp>
#include <seqtrain/hub/name.hpp>

namespace seqtrain::hub {

/// A file that a download fills, `<target>.incomplete`. It stays if the download is interrupted,
/// and the next download continues it. The caller must hold a lock against other writers. Throws
/// `Error` with the system's reason.
class PartialFile {
 public:
  /// Opens the file for a target whose content has this hash and size. A file that is longer than
  /// the content is emptied.
  PartialFile(std::filesystem::path target, std::string hash, std::uint64_t size)
      : target_{std::move(target)},
        path_{target_.string() + ".incomplete"},
        hash_{std::move(hash)},
        whole_{size},
        digest_{hash_, whole_},
        file_{::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)} {
    check(file_.number >= 0);
    digest_what_is_there();
    if (size_ > whole_) clear();
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Appends bytes of the content.
  void append(std::span<const std::byte> bytes) {
    digest_.update(bytes);
    while (!bytes.empty()) {
      const auto done =
          ::pwrite(file_.number, bytes.data(), bytes.size(), static_cast<off_t>(size_));
      if (done < 0 && errno == EINTR) continue;
      check(done > 0);
      size_ += static_cast<std::uint64_t>(done);
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }

  /// Empties the file, so that a download can start at the first byte.
  void clear() {
    check(::ftruncate(file_.number, 0) == 0);
    size_ = 0;
    digest_ = Digest{hash_, whole_};
  }

  /// Renames the file to its target if it has the expected content. Otherwise empties it and
  /// returns false.
  [[nodiscard]] bool commit() {
    if (size_ != whole_ || !digest_.matches()) {
      clear();
      return false;
    }
    check(::fsync(file_.number) == 0);
    check(::rename(path_.c_str(), target_.c_str()) == 0);
    errno = sync_directory(target_.parent_path());
    check(errno == 0);
    return true;
  }

 private:
  void digest_what_is_there() {
    std::vector<std::byte> piece(std::size_t{1} << 20);
    while (true) {
      const auto got = ::pread(file_.number, piece.data(), piece.size(), static_cast<off_t>(size_));
      if (got < 0 && errno == EINTR) continue;
      check(got >= 0);
      if (got == 0) return;
      digest_.update(std::span{piece}.first(static_cast<std::size_t>(got)));
      size_ += static_cast<std::uint64_t>(got);
    }
  }

  void check(bool succeeded) const {
    if (succeeded) return;
    const bool full = errno == ENOSPC || errno == EDQUOT;
    throw Error{"cannot be written: " + std::generic_category().message(errno),
                {.object = path_.string()},
                full ? "make room, or name another place by HF_HUB_CACHE" : ""};
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
  std::string hash_;
  std::uint64_t whole_;
  Digest digest_;
  OwnedDescriptor file_;
  std::uint64_t size_ = 0;
};

/// The cache of the Python package huggingface_hub, in its layout, so that each program finds the
/// files that the other has fetched. Each repository has a folder with the contents in
/// `blobs/<hash>`, links to them in `snapshots/<commit>/<path>`, and the commit of a branch or tag
/// in `refs/<revision>`. Locks in `.locks` prevent two processes from fetching one file. Throws
/// `Error` if the directory cannot be written.
class Cache {
 public:
  explicit Cache(std::filesystem::path directory) : directory_{std::move(directory)} {}

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

  /// Returns the folder of a repository's files at a commit, which need not exist.
  [[nodiscard]] std::filesystem::path snapshot(const Name& name, const std::string& commit) const {
    return directory_ / name.folder() / "snapshots" / commit;
  }

  /// Returns the commit that the revision pointed to when it was last fetched, or nothing.
  [[nodiscard]] std::optional<std::string> commit_of(const Name& name) const {
    if (is_commit(name.revision)) return name.revision;
    std::ifstream file{ref(name), std::ios::binary};
    const std::string commit{std::istreambuf_iterator<char>{file}, {}};
    if (!is_commit(commit)) return {};
    return commit;
  }

  /// Stores the commit that a branch or a tag points to.
  void remember(const Name& name, const std::string& commit) const {
    if (commit_of(name) == commit) return;
    const auto file = ref(name);
    create(file.parent_path());
    write_file_atomically(file, commit);
  }

  /// Tells whether the cache has a file of a commit.
  [[nodiscard]] bool has(const Name& name, const std::string& commit,
                         const std::string& path) const {
    std::error_code ignored;
    return std::filesystem::is_regular_file(snapshot(name, commit) / path, ignored);
  }

  /// Fetches a file of a commit unless the cache has its content. Waits for another process that
  /// fetches it. Continues an earlier download that was interrupted. Throws the errors of the
  /// client, and `Error` if the content has a wrong hash twice.
  void fetch(const Client& client, const Name& name, const std::string& commit,
             const RemoteFile& file) const {
    const auto blob = directory_ / name.folder() / "blobs" / file.hash;
    const auto lock_file = directory_ / ".locks" / name.folder() / (file.hash + ".lock");
    create(blob.parent_path());
    create(lock_file.parent_path());
    tag();
    const FileLock lock{lock_file, client.options().log};
    std::error_code ignored;
    if (!std::filesystem::exists(blob, ignored)) download(client, name, commit, file, blob);
    link(blob, snapshot(name, commit) / file.path);
  }

 private:
  [[nodiscard]] std::filesystem::path ref(const Name& name) const {
    return directory_ / name.folder() / "refs" / name.revision;
  }

  void create(const std::filesystem::path& folder) const {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
      throw Error{"cannot be created: " + error.message(),
                  {.object = folder.string()},
                  "HF_HUB_CACHE and HF_HOME may name another place"};
    }
  }

  /// Marks the directory as a cache, so that backup programs skip it.
  void tag() const {
    const auto file = directory_ / "CACHEDIR.TAG";
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) return;
    write_file_atomically(file,
                          "Signature: 8a477f597d28d172789f06886806bc55\n"
                          "# This directory is a cache: see https://bford.info/cachedir/\n");
  }

  static void download(const Client& client, const Name& name, const std::string& commit,
                       const RemoteFile& file, const std::filesystem::path& blob) {
    PartialFile partial{blob, file.hash, file.size};
    check_room(blob.parent_path(), file.size - partial.size());
    for (int attempt = 0; attempt < 2; ++attempt) {
      client.read(name, commit, file, partial);
      if (partial.commit()) return;
      const auto& log = client.options().log;
      if (log && attempt == 0) {
        log(name.text() + ": " + file.path + ": arrived with a wrong hash; fetching it again");
      }
    }
    throw Error{"the content does not have the hash that the hub gives, " + file.hash,
                {.object = name.text(), .field = file.path},
                "try again later, or see what HF_ENDPOINT and HTTPS_PROXY name"};
  }

  static void check_room(const std::filesystem::path& folder, std::uint64_t needed) {
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (error || space.available >= needed) return;
    throw Error{"has room for " + std::to_string(space.available >> 20) + " MB of " +
                    std::to_string(needed >> 20) + " MB",
                {.object = folder.string()},
                "make room, or name another place by HF_HUB_CACHE"};
  }

  /// Makes `file` a relative link to the blob. The link appears complete or not at all.
  void link(const std::filesystem::path& blob, const std::filesystem::path& file) const {
    create(file.parent_path());
    std::error_code error;
    if (std::filesystem::exists(file, error)) return;
    const auto target = blob.lexically_relative(file.parent_path());
    std::filesystem::remove(file, error);  // a link to a blob that has been removed
    std::filesystem::create_symlink(target, file, error);
    if (!error || error == std::errc::file_exists) return;
    throw Error{"cannot be linked: " + error.message(), {.object = file.string()}};
  }

  std::filesystem::path directory_;
};

}  // namespace seqtrain::hub
