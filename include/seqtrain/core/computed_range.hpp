#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace seqtrain {

/// A random-access range of function(0), function(1), …, function(size - 1). It is `views::iota`
/// with `views::transform`, which clang 14 cannot compile with GCC 12's library. Iterators are
/// valid as long as the range.
template <class Function>
class ComputedRange {
 public:
  class Iterator {
   public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;  // elements are values
    using value_type = std::remove_cvref_t<std::invoke_result_t<const Function&, std::size_t>>;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const Function& function, difference_type at) : function_{&function}, at_{at} {}

    value_type operator*() const { return (*function_)(static_cast<std::size_t>(at_)); }
    value_type operator[](difference_type n) const { return *(*this + n); }

    Iterator& operator+=(difference_type n) { return at_ += n, *this; }
    Iterator& operator-=(difference_type n) { return at_ -= n, *this; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return {*function_, at_++}; }
    Iterator operator--(int) { return {*function_, at_--}; }

    friend Iterator operator+(Iterator i, difference_type n) { return i += n; }
    friend Iterator operator+(difference_type n, Iterator i) { return i += n; }
    friend Iterator operator-(Iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.at_ <=> b.at_; }

   private:
    const Function* function_ = nullptr;
    difference_type at_ = 0;
  };

  ComputedRange(std::size_t size, Function function) : size_{size}, function_{function} {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Iterator begin() const { return {function_, 0}; }
  [[nodiscard]] Iterator end() const { return {function_, static_cast<std::ptrdiff_t>(size_)}; }
  auto operator[](std::size_t i) const { return function_(i); }

 private:
  std::size_t size_;
  Function function_;
};

}  // namespace seqtrain
