#pragma once

#include <cstddef>

#include <seqtrain/kernels/clones.hpp>

namespace seqtrain::kernels {

/// The bytes of a cache line.
inline constexpr std::size_t cache_line = 64;

/// Memory that will soon be read or written: `rows` rows of `bytes` bytes that begin `ld` bytes
/// apart. It may be fetched into the second-level cache beforehand.
struct Ahead {
  const std::byte* from = nullptr;
  std::size_t rows = 0;
  std::size_t bytes = 0;  ///< a multiple of `cache_line`
  std::size_t ld = 0;

  /// Returns the `count` numbers from `from` on.
  template <class Number>
  [[nodiscard]] static Ahead of(const Number* from, std::size_t count) {
    return of(from, 1, count, count);
  }

  /// Returns `columns` numbers of each row. Rows are `ld` numbers apart.
  template <class Number>
  [[nodiscard]] static Ahead of(const Number* from, std::size_t rows, std::size_t columns,
                                std::size_t ld) {
    return {reinterpret_cast<const std::byte*>(from), rows, columns * sizeof(Number),
            ld * sizeof(Number)};
  }
};

/// Begins to fetch a cache line. Without the empty statement GCC takes a function that does nothing
/// else for one without effect, and drops its calls.
SEQTRAIN_INLINE void fetch_line(const std::byte* address) {
  __builtin_prefetch(address, 0, 2);
  asm volatile("");
}

/// Begins to fetch all lines.
inline void fetch(const Ahead& ahead) {
  for (std::size_t row = 0; row < ahead.rows; ++row) {
    const std::byte* const from = ahead.from + row * ahead.ld;
    for (std::size_t i = 0; i < ahead.bytes; i += cache_line) fetch_line(from + i);
  }
}

/// Fetches memory in equal steps.
class Fetching {
 public:
  /// All is fetched after `steps` steps, at least one.
  Fetching(const Ahead& ahead, std::size_t steps)
      : left_{ahead}, lines_{(ahead.rows * (ahead.bytes / cache_line) + steps - 1) / steps} {}

  /// Begins to fetch the lines of a step.
  SEQTRAIN_INLINE void step() {
    step([](const std::byte* address) SEQTRAIN_INLINE_LAMBDA { fetch_line(address); });
  }

  /// Calls use(address) for each line of a step.
  template <class Use>
  SEQTRAIN_INLINE void step(const Use& use) {
    for (std::size_t i = 0; i < lines_ && left_.rows > 0; ++i) {
      use(left_.from + offset_);
      offset_ += cache_line;
      if (offset_ < left_.bytes) continue;
      offset_ = 0;
      left_.from += left_.ld;
      --left_.rows;
    }
  }

 private:
  Ahead left_;
  std::size_t lines_;  // in a step
  std::size_t offset_ = 0;
};

}  // namespace seqtrain::kernels
