#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace seqtrain {

/// An array that grows without ever being there twice: the C library moves a large one by changing
/// its page table, and room that is not in use yet takes no memory. For hundreds of megabytes that
/// arrive piece by piece.
template <class T>
requires std::is_trivially_copyable_v<T>
class FlatArray {
 public:
  FlatArray() = default;
  FlatArray(const FlatArray& other) { append({other.begin(), other.size()}); }
  FlatArray(FlatArray&& other) noexcept { swap(other); }
  FlatArray& operator=(FlatArray other) noexcept {
    swap(other);
    return *this;
  }
  ~FlatArray() { std::free(data_); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] const T& back() const noexcept { return data_[size_ - 1]; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }

  void push_back(T value) { *extend(1) = value; }

  void append(std::span<const T> values) {
    if (!values.empty()) std::memcpy(extend(values.size()), values.data(), values.size_bytes());
  }

  /// Makes room for `count` values behind the last and returns where to write them.
  T* extend(std::size_t count) {
    if (count > capacity_ - size_) grow(count);
    T* const place = data_ + size_;
    size_ += count;
    return place;
  }

  /// Drops what is behind the first `size` values and keeps the room.
  void truncate(std::size_t size) noexcept { size_ = std::min(size_, size); }

  /// Gives unused room back.
  void shrink_to_fit() {
    if (size_ > 0) resize_room(size_);
  }

 private:
  void grow(std::size_t count) {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 4 / sizeof(T);
    if (count > most - size_) throw std::bad_alloc{};
    resize_room(std::max({size_ + count, 2 * capacity_, 4096 / sizeof(T)}));
  }

  void resize_room(std::size_t capacity) {
    void* const moved = std::realloc(data_, capacity * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc{};
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  void swap(FlatArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace seqtrain
