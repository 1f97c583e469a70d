#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/linear.hpp>

namespace seqtrain::model::cpu {

/// Numbers that attention adds to its scores, by the distance of a key from its query. All
/// distances in a range share one number.
struct DistanceNumbers {
  at::Tensor numbers;   ///< [ranges, heads]
  at::Tensor gradient;  ///< undefined where frozen
  /// Returns the ranges of the distances from -(length - 1) to length - 1.
  std::function<std::vector<std::int64_t>(std::int64_t length)> ranges;
};

/// The numbers of a batch, one for each head and distance, and their gradients. Each group of
/// sequences has gradients of its own, which are added up in the order of the groups.
class DistanceBias {
 public:
  explicit DistanceBias(DistanceNumbers numbers) : numbers_{std::move(numbers)} {}

  /// Looks up the numbers for sequences of at most that length.
  void look_up(std::size_t longest) {
    ranges_ = numbers_.ranges(static_cast<std::int64_t>(longest));
    const float* const from = numbers_.numbers.const_data_ptr<float>();
    float* const to = values_.reserve(heads() * distances());
    for (std::size_t head = 0; head < heads(); ++head) {
      for (std::size_t i = 0; i < distances(); ++i) {
        to[head * distances() + i] = from[static_cast<std::size_t>(ranges_[i]) * heads() + head];
      }
    }
  }

  /// Returns the number of distances, which is also the stride from one head's numbers to the next
  /// head's.
  [[nodiscard]] std::size_t distances() const { return ranges_.size(); }

  /// Returns a pointer to head 0's number for distance 0.
  [[nodiscard]] const float* values() const { return values_.data() + distances() / 2; }

  /// Sets the gradients of so many groups to zero.
  void reserve_gradients(std::size_t groups) {
    groups_ = groups;
    const std::size_t count = groups * heads() * distances();
    std::fill_n(gradients_.reserve(count), count, 0.0F);
  }

  /// Returns a pointer to a group's gradient of head 0's number for distance 0.
  [[nodiscard]] float* gradients(std::size_t group) const {
    return gradients_.data() + group * heads() * distances() + distances() / 2;
  }

  /// Adds all groups' gradients to that of the parameter, if it learns.
  void add_gradients() const {
    if (!numbers_.gradient.defined()) return;
    float* const to = numbers_.gradient.mutable_data_ptr<float>();
    const float* from = gradients_.data();
    for (std::size_t group = 0; group < groups_; ++group) {
      for (std::size_t head = 0; head < heads(); ++head) {
        for (const std::int64_t range : ranges_) {
          to[static_cast<std::size_t>(range) * heads() + head] += *from++;
        }
      }
    }
  }

 private:
  [[nodiscard]] std::size_t heads() const {
    return static_cast<std::size_t>(numbers_.numbers.size(1));
  }

  DistanceNumbers numbers_;
  std::vector<std::int64_t> ranges_;
  Buffer<float> values_;     // [heads, distances]
  Buffer<float> gradients_;  // [groups, heads, distances]
  std::size_t groups_ = 0;
};

}  // namespace seqtrain::model::cpu
