#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <seqtrain/core/ordered_workers.hpp>

namespace seqtrain::predict {

/// Vectors of one size, in blocks, so that none is copied when more come.
class VectorTable {
 public:
  static constexpr std::size_t block_rows = 4096;

  /// Appends a vector, which must have the size of those before.
  void add(std::span<const float> vector) {
    if (rows_ % block_rows == 0) blocks_.emplace_back().reserve(block_rows * vector.size());
    size_ = vector.size();
    blocks_.back().insert(blocks_.back().end(), vector.begin(), vector.end());
    ++rows_;
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  /// Returns a vector.
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return std::span{blocks_[i / block_rows]}.subspan(i % block_rows * size_, size_);
  }

 private:
  std::size_t rows_ = 0;
  std::size_t size_ = 0;
  std::vector<std::vector<float>> blocks_;
};

namespace detail {

/// Returns the square of the distance of two vectors. Eight sums in a fixed order give the same
/// bits wherever the vectors are in memory.
template <class A>
[[nodiscard]] double squared_distance(std::span<const A> a, std::span<const float> b) {
  constexpr std::size_t lanes = 8;
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= b.size(); i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double difference = static_cast<double>(a[i + lane]) - double{b[i + lane]};
      sums[lane] += difference * difference;
    }
  }
  for (; i < b.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - double{b[i]};
    sums[i % lanes] += difference * difference;
  }
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

/// The distances of vectors to the nearest center so far, as squares. A center itself has -1.
class CenterDistances {
 public:
  CenterDistances(const VectorTable& vectors, std::size_t threads)
      : vectors_{&vectors},
        threads_{threads},
        nearest_(vectors.rows(), std::numeric_limits<double>::infinity()),
        farthest_(vectors.blocks()) {}

  /// Returns the vector that is nearest to the mean of all.
  [[nodiscard]] std::size_t most_typical() {
    std::vector<double> mean(vectors_->size(), 0);
    for (std::size_t i = 0; i < vectors_->rows(); ++i) {
      const auto row = vectors_->row(i);
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += double{row[k]};
    }
    for (double& each : mean) each /= static_cast<double>(vectors_->rows());
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < vectors_->rows(); ++i) {
      const double distance = squared_distance<double>(mean, vectors_->row(i));
      if (distance < least) best = i;
      least = std::min(least, distance);
    }
    return best;
  }

  /// Adds a center. Returns the vector that is farthest from all centers, the first of equal ones.
  std::size_t add(std::size_t center) {
    const auto middle = vectors_->row(center);
    run_parallel(threads_, vectors_->blocks(), [&](std::size_t block) {
      const std::size_t begin = block * VectorTable::block_rows;
      const std::size_t end = std::min(begin + VectorTable::block_rows, vectors_->rows());
      std::size_t best = begin;
      for (std::size_t i = begin; i < end; ++i) {
        const double distance = squared_distance<float>(middle, vectors_->row(i));
        nearest_[i] = i == center ? -1 : std::min(nearest_[i], distance);
        if (nearest_[i] > nearest_[best]) best = i;
      }
      farthest_[block] = best;
    });
    return *std::ranges::max_element(farthest_, {}, [&](std::size_t i) { return nearest_[i]; });
  }

  /// Returns the distance of a vector to its nearest center.
  [[nodiscard]] double distance(std::size_t i) const {
    return std::sqrt(std::max(0.0, nearest_[i]));
  }

 private:
  const VectorTable* vectors_;
  std::size_t threads_;
  std::vector<double> nearest_;
  std::vector<std::size_t> farthest_;  ///< of each block
};

}  // namespace detail

/// Vectors that cover others.
struct Centers {
  std::vector<std::size_t> rows = {};  ///< in the order in which they were chosen
  double radius = 0;                   ///< each vector is at most so far from one of them
};

/// Hears how many vectors are chosen, and how many will be.
using CentersProgress = std::function<void(std::size_t, std::size_t)>;

/// Chooses at most `count` vectors so that no other is far from all of them: greedy k-center
/// (Gonzalez 1985; Sener and Savarese 2018), whose radius is at most twice the best one. The first
/// is the vector nearest the mean, so an outlier is not chosen for being one before any usual
/// vector is; each further one is the farthest from those before it. So the first n of more are
/// those for n. The result does not depend on the number of threads. `progress` hears how many are
/// chosen, after each, and how many will be.
[[nodiscard]] inline Centers k_center(const VectorTable& vectors, std::size_t count,
                                      std::size_t threads = 1,
                                      const CentersProgress& progress = {}) {
  Centers centers;
  const std::size_t most = std::min(count, vectors.rows());
  if (most == 0) return centers;
  detail::CenterDistances distances{vectors, threads};
  std::size_t next = distances.most_typical();
  while (centers.rows.size() < most) {
    centers.rows.push_back(next);
    next = distances.add(next);
    if (progress) progress(centers.rows.size(), most);
  }
  centers.radius = distances.distance(next);
  return centers;
}

}  // namespace seqtrain::predict
