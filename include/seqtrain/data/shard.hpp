#pragma once

#include <cstdint>

namespace seqtrain::data {

/// The batches of an epoch that one process computes. A step consists of `replicas` parts of
/// `accumulation` batches each; this process computes the parts [first, last) of every step. By
/// default it computes all of them.
struct Shard {
  std::int64_t replicas = 1;
  std::int64_t accumulation = 1;
  std::int64_t first = 0;
  std::int64_t last = 1;

  /// Whether this process computes the batch with that index in its epoch.
  [[nodiscard]] bool owns(std::int64_t index) const {
    const std::int64_t part = index / accumulation % replicas;
    return part >= first && part < last;
  }
};

}  // namespace seqtrain::data
