#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace seqtrain {

/// Keeps the program alive when it reads a page of a mapped file that the file no longer has, or
/// that the disk cannot read. The system answers such an access with SIGBUS, which ends a program.
/// Inside watched pages the access, on any thread, gives zeros instead, as do those that follow,
/// and `lost` tells so. The first object installs the handler of SIGBUS, which passes on other
/// faults to the handler before it.
class WatchedPages {
 public:
  /// Watches the pages of these bytes, which must stay mapped as long as this object exists.
  explicit WatchedPages(std::span<const std::byte> bytes) : range_{&free_range()} {
    [[maybe_unused]] static const bool installed = install();
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    range_->lost = false;
    range_->begin = begin;
    range_->end = begin + bytes.size();
  }
  WatchedPages(const WatchedPages&) = delete;
  WatchedPages& operator=(const WatchedPages&) = delete;
  ~WatchedPages() {
    range_->end = 0;
    range_->used = false;
  }

  /// Tells whether a page could not be read.
  [[nodiscard]] bool lost() const noexcept { return range_->lost; }

 private:
  /// A place in the list of watched ranges. A signal handler may use only lock-free atomics, so
  /// places are used again, but never freed.
  struct Range {
    std::atomic<bool> used = true;
    std::atomic<bool> lost = false;
    std::atomic<std::uintptr_t> begin = 0;
    std::atomic<std::uintptr_t> end = 0;  ///< 0 if nothing is watched
    Range* next = nullptr;
  };
  static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

  static std::atomic<Range*>& first_range() {
    static std::atomic<Range*> first = nullptr;
    return first;
  }

  static Range& free_range() {
    for (Range* range = first_range(); range != nullptr; range = range->next) {
      bool used = false;
      if (range->used.compare_exchange_strong(used, true)) return *range;
    }
    auto* const range = new Range;
    range->next = first_range();
    while (!first_range().compare_exchange_weak(range->next, range)) {
    }
    return *range;
  }

  static struct ::sigaction& action_before() {
    static struct ::sigaction action = {};
    return action;
  }

  static bool install() {
    page_bytes() = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct ::sigaction action = {};
    action.sa_sigaction = &on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, &action_before()) == 0;
  }

  static std::uintptr_t& page_bytes() {
    static std::uintptr_t bytes = 0;
    return bytes;
  }

  static void on_bus_error(int number, siginfo_t* info, void*) {
    const int reason = errno;
    const bool is_ours = info->si_code == BUS_ADRERR && replace(info->si_addr);
    errno = reason;
    if (is_ours) return;  // the access is made again
    ::sigaction(SIGBUS, &action_before(), nullptr);
    ::raise(number);
  }

  /// Puts zeros in the place of the page at an address and of the watched pages after it. Returns
  /// false if the page is not watched.
  static bool replace(void* address) {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t page = place / page_bytes() * page_bytes();
    bool replaced = false;
    for (Range* range = first_range(); range != nullptr; range = range->next) {
      const std::uintptr_t end = range->end;
      if (place < range->begin || place >= end) continue;
      range->lost = true;
      constexpr int kind = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE;
      // The system call itself may be made in a signal handler. Threads that read the page at the
      // same time see zeros or get the signal too, which ThreadSanitizer would call a race of mmap.
      replaced |= ::syscall(SYS_mmap, page, end - page, PROT_READ | PROT_WRITE, kind, -1, 0) != -1;
    }
    return replaced;
  }

  Range* range_;
};

}  // namespace seqtrain
