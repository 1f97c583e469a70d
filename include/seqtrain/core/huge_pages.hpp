#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <sys/mman.h>

namespace seqtrain {

/// Allocates memory on pages of 2 MiB if the memory fills at least one such page and the system has
/// them, and smaller memory on cache lines, which are as wide as the widest registers. Large pages
/// save most address translations in tables that are looked up at random places and in matrices
/// that are read by columns. Large memory comes from the system and goes back to it: in the heap,
/// the space before the next aligned address would be lost.
template <class T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <class U>
  explicit HugePageAllocator(const HugePageAllocator<U>&) noexcept {}

  /// Returns memory for `count` values, whose lifetimes have not begun. Throws `std::bad_alloc` if
  /// the system has none.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc{};
    const std::size_t size = count * sizeof(T);
    return static_cast<T*>(size < page ? ::operator new(size, line) : map(size));
  }
  /// Returns memory of `allocate` to the system.
  void deallocate(T* memory, std::size_t count) noexcept {
    const std::size_t size = count * sizeof(T);
    if (size < page) return ::operator delete(memory, line);
    ::munmap(memory, whole_pages(size));
  }

  bool operator==(const HugePageAllocator&) const = default;

 private:
  static constexpr std::size_t page = std::size_t{2} << 20;
  static constexpr std::align_val_t line{64};
  static_assert(alignof(T) <= 64);

  /// Rounds a size up to whole pages of any system: they have at most 64 KiB.
  static constexpr std::size_t whole_pages(std::size_t size) noexcept {
    constexpr std::size_t largest = std::size_t{64} << 10;
    return (size + largest - 1) / largest * largest;
  }

  /// Returns memory that begins on a large page. The system aligns to small ones, so this gives
  /// back what lies around.
  static void* map(std::size_t size) {
    const std::size_t used = whole_pages(size);
    void* const all =
        ::mmap(nullptr, used + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc{};
    const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(all) % page) % page;
    auto* const memory = static_cast<std::byte*>(all) + before;
    if (before > 0) ::munmap(all, before);
    ::munmap(memory + used, page - before);
#if defined(MADV_HUGEPAGE)
    ::madvise(memory, used, MADV_HUGEPAGE);
#endif
    return memory;
  }
};

}  // namespace seqtrain
