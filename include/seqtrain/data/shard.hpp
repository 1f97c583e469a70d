#pragma once

#include <cstddef>
#include <cstdint>

#include <seqtrain/core/error.hpp>

namespace seqtrain::data {

/// The batches of an epoch that one of several processes computes. Runs of `accumulation` batches
/// are assigned to the leaves of a step in turn. The process has the leaves `first` to `last` - 1.
/// By default it owns every batch.
struct Shard {
  std::int64_t replicas = 1;      ///< leaves of a step; in evaluation the number of processes
  std::int64_t accumulation = 1;  ///< batches per leaf
  std::int64_t first = 0;
  std::int64_t last = 1;

  /// Throws `InputError` unless `first` and `last` are leaves of a step.
  void validate() const {
    const Demand demand{"shard"};
    demand(replicas >= 1 && replicas <= 4096, "replicas", "must be 1 to 4096");
    demand(accumulation >= 1, "accumulation", "must be at least 1");
    demand(first >= 0 && first < last && last <= replicas, "leaves",
           "must be one leaf or more, all below the number of replicas");
  }

  /// Tells whether the process computes the batch with this index in the epoch.
  [[nodiscard]] bool owns(std::int64_t batch_index) const noexcept {
    const std::int64_t leaf = batch_index / accumulation % replicas;
    return first <= leaf && leaf < last;
  }

  /// Returns the number of batches of the epoch per batch of this process, rounded up.
  [[nodiscard]] std::size_t stride() const noexcept {
    const std::int64_t owned = last - first;
    return static_cast<std::size_t>((replicas + owned - 1) / owned);
  }
};

}  // namespace seqtrain::data
