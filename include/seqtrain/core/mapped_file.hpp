#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/watched_pages.hpp>

namespace seqtrain {

/// The bytes of a file. A file of at most `most_copied` bytes is read; a larger one is mapped, from
/// the page cache without a copy. The file may be replaced by `rename` meanwhile. If it is
/// rewritten in place while it is read or mapped, see `Changes`.
class MappedFile {
 public:
  /// The access that the process has to the mapped bytes.
  enum class Pages {
    read_only,
    writable  ///< writing changes the memory of this process, but not the file
  };
  /// The party that takes care that a mapped file does not change.
  enum class Changes {
    forbidden,  ///< nobody may shorten the file
    watched     ///< bytes that the file loses read as zeros, and `check_unchanged` throws
  };

  static constexpr std::size_t most_copied = std::size_t{8} << 20;

  /// Reads or maps `file`. Throws `InputError` if it is missing, cannot be read, is not a regular
  /// file or is empty, and `Error` if it changes while it is read.
  explicit MappedFile(const std::filesystem::path& file, Pages pages = Pages::read_only,
                      Changes changes = Changes::forbidden)
      : MappedFile{} {  // so that the destructor runs if something below throws
    OwnedDescriptor descriptor{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (descriptor.number < 0) fail(file, std::strerror(errno));
    const auto status = status_of(descriptor, file);
    if (S_ISDIR(status.st_mode)) fail(file, "is a directory, not a file");
    if (!S_ISREG(status.st_mode)) fail(file, "is not a regular file");
    if (status.st_size == 0) fail(file, "is empty");
    size_ = static_cast<std::size_t>(status.st_size);
    is_copy_ = size_ <= most_copied;
    const int access = pages == Pages::writable || is_copy_ ? PROT_READ | PROT_WRITE : PROT_READ;
    const int kind = is_copy_ ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
    void* const bytes = ::mmap(nullptr, size_, access, kind, is_copy_ ? -1 : descriptor.number, 0);
    if (bytes == MAP_FAILED) fail(file, std::strerror(errno));
    data_ = static_cast<const char*>(bytes);
    if (is_copy_) {
      copy(descriptor, {static_cast<char*>(bytes), size_}, file, status);
    } else if (changes == Changes::watched) {
      watch_ = std::make_unique<Watch>(file, std::move(descriptor), status, this->bytes());
    }
  }

  MappedFile(MappedFile&& other) noexcept { swap(other); }
  MappedFile& operator=(MappedFile&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile() {
    watch_.reset();  // before another mapping takes the addresses
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }

  /// Throws `Error` if the file is watched and has been written to since it was mapped, or could
  /// not be read. Call it when all that is needed has been read.
  void check_unchanged() const {
    if (watch_ && (watch_->pages.lost() ||
                   differ(status_of(watch_->descriptor, watch_->path), watch_->status))) {
      fail_changed(watch_->path);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view text() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span{data_, size_});
  }

  /// Frees the memory of a part of `text()`. The part stays readable: it is read from the file
  /// again. Does nothing if the file was copied.
  void forget(std::string_view part) const noexcept { advise(part, MADV_DONTNEED); }

  /// Tells the system that a part of `text()` will be read at random places, so that it reads no
  /// pages ahead.
  void expect_jumps(std::string_view part) const noexcept { advise(part, MADV_RANDOM); }

 private:
  MappedFile() = default;

  using Status = struct ::stat;

  /// Facts that tell whether a mapped file has changed.
  struct Watch {
    Watch(const std::filesystem::path& file, OwnedDescriptor opened, const Status& at_first,
          std::span<const std::byte> bytes)
        : path{file}, descriptor{std::move(opened)}, status{at_first}, pages{bytes} {}

    std::filesystem::path path;
    OwnedDescriptor descriptor;
    Status status;
    WatchedPages pages;
  };

  static Status status_of(const OwnedDescriptor& file, const std::filesystem::path& path) {
    Status status = {};
    if (::fstat(file.number, &status) != 0) fail(path, std::strerror(errno));
    return status;
  }

  static bool differ(const Status& a, const Status& b) {
    return a.st_size != b.st_size || a.st_mtim.tv_sec != b.st_mtim.tv_sec ||
           a.st_mtim.tv_nsec != b.st_mtim.tv_nsec;
  }

  /// Reads the whole file.
  static void copy(const OwnedDescriptor& from, std::span<char> to,
                   const std::filesystem::path& path, const Status& status) {
    while (!to.empty()) {
      const auto count = ::read(from.number, to.data(), to.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(path, std::strerror(errno));
      if (count == 0) fail_changed(path);
      to = to.subspan(static_cast<std::size_t>(count));
    }
    if (differ(status_of(from, path), status)) fail_changed(path);
  }

  void swap(MappedFile& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(is_copy_, other.is_copy_);
    std::swap(watch_, other.watch_);
  }

  void advise(std::string_view part, int advice) const noexcept {
    if (is_copy_) return;  // whose bytes would be lost
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, advice);
  }

  [[noreturn]] static void fail(const std::filesystem::path& file, const std::string& problem) {
    throw InputError{problem, {.object = file.string()}};
  }
  [[noreturn]] static void fail_changed(const std::filesystem::path& file) {
    throw Error{"was changed while it was read",
                {.object = file.string()},
                "write a new file beside it, then rename it with mv"};
  }

  const char* data_ = nullptr;
  std::size_t size_ = 0;
  bool is_copy_ = false;
  std::unique_ptr<Watch> watch_;  ///< null if the file is not watched
};

/// Returns `work()`, which reads `file`. If the file has changed meanwhile, throws the `Error` of
/// its `check_unchanged` in place of what `work` returns or throws.
template <class File, class Work>
auto while_unchanged(const File& file, const Work& work) {
  const auto checked = [&] {
    try {
      return work();
    } catch (...) {
      file.check_unchanged();
      throw;
    }
  };
  if constexpr (std::is_void_v<decltype(work())>) {
    checked();
    file.check_unchanged();
  } else {
    auto result = checked();
    file.check_unchanged();
    return result;
  }
}

}  // namespace seqtrain
