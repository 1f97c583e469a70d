#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace seqtrain::model::cpu {

/// Returns `count` rounded up to a multiple of `unit`.
[[nodiscard]] constexpr std::size_t round_up(std::size_t count, std::size_t unit) {
  return (count + unit - 1) / unit * unit;
}

/// Memory that can grow, aligned for the widest registers. Its content is lost when it grows.
template <class T>
class Buffer {
 public:
  T* reserve(std::size_t count) {
    if (count > capacity_) {
      memory_.reset();
      capacity_ = 0;  // the next line may throw
      memory_.reset(static_cast<T*>(::operator new(count * sizeof(T), alignment)));
      capacity_ = count;
    }
    return memory_.get();
  }
  [[nodiscard]] T* data() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Release {
    void operator()(T* memory) const { ::operator delete(memory, alignment); }
  };
  std::unique_ptr<T, Release> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace seqtrain::model::cpu
