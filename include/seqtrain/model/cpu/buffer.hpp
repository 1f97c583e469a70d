#pragma once

#include <cstddef>
#include <memory>

#include <seqtrain/core/huge_pages.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::model::cpu {

using kernels::round_up;

/// Memory that can grow, aligned for the widest registers. Its content is lost when it grows.
template <class T>
class Buffer {
 public:
  /// Returns memory for `count` values.
  T* reserve(std::size_t count) {
    std::size_t& capacity = memory_.get_deleter().count;
    if (count > capacity) {
      memory_.reset();
      capacity = 0;  // the next line may throw
      memory_.reset(HugePageAllocator<T>{}.allocate(count));
      capacity = count;
    }
    return memory_.get();
  }
  [[nodiscard]] T* data() const { return memory_.get(); }

 private:
  struct Release {
    std::size_t count = 0;
    void operator()(T* memory) const { HugePageAllocator<T>{}.deallocate(memory, count); }
  };
  std::unique_ptr<T, Release> memory_;
};

}  // namespace seqtrain::model::cpu
