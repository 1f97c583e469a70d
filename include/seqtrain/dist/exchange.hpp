#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/own_sums.hpp>
#include <seqtrain/dist/reduction.hpp>

namespace seqtrain::dist {

/// Sums the gradients of a step over all processes of a group, so that each process has the whole
/// sum. Gradients are sent in buckets, from the last parameter to the first. Rows of tables that no
/// process has touched are not sent. In exact mode each process sums one slice of a bucket: slices
/// are scattered, summed in the order of the tree, and gathered.
///
/// A separate thread does this, so buckets are sent while the gradients of earlier layers are still
/// computed. On a device it queues its work on a stream of its own, which events order. Only this
/// thread waits for the device: without NCCL for copies to the host, and with NCCL for operations
/// that it queued earlier, to notice lost ranks.
class Exchange {
 public:
  Exchange(Group& group, std::int64_t replicas, Reduction reduction);
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;
  ~Exchange();

  /// Starts the exchange of a step with this many parts. Every process of the group must call
  /// `begin` and `finish`.
  void begin(OwnSums own, std::int64_t parts);

  /// Reports that the gradients of the parameters from number `first` on, except late ones, are
  /// complete; on a device, that the calling thread has queued all work on them on its current
  /// stream.
  void ready(std::size_t first);

  /// Ends a step that has begun and cannot be finished. The other processes throw an error. The
  /// exchange cannot be used afterwards.
  void abandon(const std::string& problem) noexcept;

  /// Waits until the parameters hold the gradients and the losses of the whole step; on a device,
  /// until what the calling thread queues next on its current stream finds them. Returns whether
  /// any process passed `stop`.
  bool finish(bool stop);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace seqtrain::dist

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/dist/src/exchange.hpp>
#endif
