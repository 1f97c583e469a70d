#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>

namespace seqtrain {

/// Maps a file for reading, from the page cache without a copy. Nobody may shorten the file
/// meanwhile.
class MappedFile {
 public:
  enum class Pages {
    read_only,
    writable  ///< writing changes the memory of this process, but not the file
  };

  /// Maps `file`. Throws `InputError` if it is missing, cannot be read, is not a regular file or is
  /// empty.
  explicit MappedFile(const std::filesystem::path& file, Pages pages = Pages::read_only) {
    const OwnedDescriptor descriptor{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (descriptor.number < 0) fail(file, std::strerror(errno));
    struct stat status = {};
    if (::fstat(descriptor.number, &status) != 0) fail(file, std::strerror(errno));
    if (S_ISDIR(status.st_mode)) fail(file, "is a directory, not a file");
    if (!S_ISREG(status.st_mode)) fail(file, "is not a regular file");
    if (status.st_size == 0) fail(file, "is empty");
    size_ = static_cast<std::size_t>(status.st_size);
    const int access = pages == Pages::writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void* const bytes = ::mmap(nullptr, size_, access, MAP_PRIVATE, descriptor.number, 0);
    if (bytes == MAP_FAILED) fail(file, std::strerror(errno));
    data_ = static_cast<const char*>(bytes);
  }

  MappedFile(MappedFile&& other) noexcept
      : data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view text() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span{data_, size_});
  }

  /// Frees the memory of a part of `text()`. The part stays readable: it is read from the file
  /// again.
  void forget(std::string_view part) const noexcept { advise(part, MADV_DONTNEED); }

  /// Tells the system that a part of `text()` will be read at random places, so that it reads no
  /// pages ahead.
  void expect_jumps(std::string_view part) const noexcept { advise(part, MADV_RANDOM); }

 private:
  static void advise(std::string_view part, int advice) noexcept {
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, advice);
  }

  [[noreturn]] static void fail(const std::filesystem::path& file, const std::string& problem) {
    throw InputError{problem, {.object = file.string()}};
  }

  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace seqtrain
