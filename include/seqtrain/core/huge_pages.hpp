#pragma once

#include <cstddef>
#include <new>

#include <sys/mman.h>

namespace seqtrain {

/// Allocates memory on pages of 2 MiB if the memory fills at least one such page and the system has
/// them, and smaller memory on cache lines, which are as wide as the widest registers. Large pages
/// save most address translations in tables that are looked up at random places and in matrices
/// that are read by columns.
template <class T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <class U>
  explicit HugePageAllocator(const HugePageAllocator<U>&) noexcept {}

  /// Returns memory for `count` values, whose lifetimes have not begun.
  [[nodiscard]] T* allocate(std::size_t count) {
    void* const memory = ::operator new(count * sizeof(T), alignment(count));
#if defined(MADV_HUGEPAGE)
    if (is_large(count)) ::madvise(memory, count * sizeof(T), MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  /// Returns memory of `allocate` to the system.
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(memory, alignment(count));
  }

  bool operator==(const HugePageAllocator&) const = default;

 private:
  static constexpr std::size_t page = std::size_t{2} << 20;
  static constexpr std::size_t line = 64;
  static_assert(alignof(T) <= line);

  static bool is_large(std::size_t count) noexcept {
    return count * sizeof(T) >= page;
  }
  static std::align_val_t alignment(std::size_t count) noexcept {
    return std::align_val_t{is_large(count) ? page : line};
  }
};

}  // namespace seqtrain
