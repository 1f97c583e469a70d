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

/// An array for hundreds of megabytes that arrive piece by piece. It never holds two copies while
/// it grows: the C library moves a large block by changing its page table, and unused room takes no
/// memory. It can also be a view of values elsewhere, such as in a mapped file. A copy of a view is
/// a view, and a view that grows becomes an array of its own first.
template <class T>
requires std::is_trivially_copyable_v<T>
class FlatArray {
 public:
  FlatArray() = default;
  FlatArray(const FlatArray& other) {
    if (other.is_view_) {
      *this = view({other.begin(), other.size()});
    } else {
      append({other.begin(), other.size()});
    }
  }
  FlatArray(FlatArray&& other) noexcept { swap(other); }
  FlatArray& operator=(FlatArray other) noexcept {
    swap(other);
    return *this;
  }
  ~FlatArray() {
    if (!is_view_) std::free(data_);
  }

  /// Returns a view of `values`, which must outlive the view and its copies.
  static FlatArray view(std::span<const T> values) {
    FlatArray array;
    array.data_ = const_cast<T*>(values.data());  // nothing is written through a view
    array.size_ = array.capacity_ = values.size();
    array.is_view_ = true;
    return array;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns the number of values that the array's own memory has room for, which is 0 for a view.
  [[nodiscard]] std::size_t capacity() const noexcept { return is_view_ ? 0 : capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }

  /// Adds a value at the end.
  void push_back(T value) { *extend(1) = value; }

  /// Adds values at the end.
  void append(std::span<const T> values) {
    if (!values.empty()) std::memcpy(extend(values.size()), values.data(), values.size_bytes());
  }

  /// Adds room for `count` values at the end and returns a pointer to it.
  T* extend(std::size_t count) {
    if (count > capacity_ - size_) grow(count);
    T* const place = data_ + size_;
    size_ += count;
    return place;
  }

  /// Keeps the first `size` values and drops the rest. The room stays.
  void truncate(std::size_t size) noexcept {
    size_ = std::min(size_, size);
    if (is_view_) capacity_ = size_;  // a value that is pushed must not land in the view
  }

  /// Frees unused room.
  void shrink_to_fit() {
    if (size_ > 0 && !is_view_) resize_room(size_);
  }

 private:
  void grow(std::size_t count) {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 4 / sizeof(T);
    if (count > most - size_) throw std::bad_alloc{};
    resize_room(std::max({size_ + count, 2 * capacity_, 4096 / sizeof(T)}));
  }

  void resize_room(std::size_t capacity) {
    void* const moved = std::realloc(is_view_ ? nullptr : data_, capacity * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc{};
    if (is_view_ && size_ > 0) std::memcpy(moved, data_, size_ * sizeof(T));
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
    is_view_ = false;
  }

  void swap(FlatArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(is_view_, other.is_view_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool is_view_ = false;
};

}  // namespace seqtrain
