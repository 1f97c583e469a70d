#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/dist/group_options.hpp>
#include <seqtrain/dist/handles.hpp>
#include <seqtrain/dist/pending.hpp>
#include <seqtrain/dist/world.hpp>

namespace seqtrain::dist {

namespace detail {
class GroupConnection;
}  // namespace detail

/// A value that all processes of a run share; see `Group::remember`.
struct Remembered {
  std::string value;
  bool was_there = false;  ///< an earlier start of the run made the value
};

/// The connected processes of a world. All ranks must start the operations in the same order; the
/// operations run on other threads. With one process there is no socket, and every operation is a
/// copy.
///
/// If a rank ends or cannot be reached, the operations that wait for it throw an `Error` that names
/// it within 30 seconds. There is no limit on the wait for a rank that is only slow.
class Group {
 public:
  /// Connects to all ranks and waits for them. Throws `InputError` if the port is in use, a name
  /// does not resolve, nothing answers, or the ranks have different world sizes.
  [[nodiscard]] static Group connect(const World& world, const GroupOptions& options = {}) {
    return Group{world, options};
  }
  Group(Group&&) noexcept;
  Group& operator=(Group&&) noexcept;
  ~Group();

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] int rank() const { return world_.rank; }
  [[nodiscard]] int size() const { return world_.size; }

  /// Returns the bytes that each rank passes, indexed by rank. Their sizes may differ.
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view bytes);

  /// Returns the bytes of rank 0. The arguments of other ranks are ignored.
  [[nodiscard]] std::string broadcast(std::string bytes);

  /// Copies the bytes of rank 0 to all other ranks. The sizes must be equal.
  void broadcast(std::span<std::byte> bytes);

  /// Tells whether tensors must be in the host's memory though the processes compute on a device:
  /// it is no GPU of CUDA, or libseqtrain_nccl.so cannot be loaded.
  [[nodiscard]] bool through_host() const;

  /// Waits until all ranks have called it.
  void barrier() { static_cast<void>(all_gather("")); }

  /// Sends part r of `in` to rank r and writes the part from rank r to place r of `out`. The sizes
  /// are numbers of elements, one per rank; they may be 0. The tensors must be contiguous.
  [[nodiscard]] Pending all_to_all(at::Tensor out, const at::Tensor& in,
                                   std::vector<std::int64_t> out_sizes,
                                   std::vector<std::int64_t> in_sizes);

  /// Writes `in` of rank r to place r of `out`, which has `size()` times as many elements. The
  /// tensors must be contiguous.
  [[nodiscard]] Pending all_gather(at::Tensor out, const at::Tensor& in);

  /// Replaces the elements of a contiguous tensor by their sums over all ranks. Every rank gets
  /// equal bits, which depend on the number of ranks.
  [[nodiscard]] Pending all_reduce(at::Tensor tensor);

  /// Returns the value that the run has under `key`. The first start of the run makes it on rank 0,
  /// and the launcher's store keeps it for later starts. Without such a store every start makes it
  /// again. All ranks must call this.
  [[nodiscard]] Remembered remember(const std::string& key,
                                    const std::function<std::string()>& make);

  /// Tries to tell the other ranks the error with which this one ends. They throw it with this
  /// rank's number in front.
  void fail_note(const std::string& error) noexcept;

 private:
  Group(const World& world, const GroupOptions& options);

  [[nodiscard]] Remembered recall(const std::string& key, const std::function<std::string()>& make);

  // A run of one process connects to the launcher's store only here, because the next start of the
  // run may have more processes.
  [[nodiscard]] StorePtr run_store() const;

  [[nodiscard]] std::vector<std::int64_t> gathered_sizes(std::size_t own);
  void check_sizes(const at::Tensor& tensor, const std::vector<std::int64_t>& sizes) const;

  World world_;
  GroupOptions options_;
  std::unique_ptr<detail::GroupConnection> connection_;
};

}  // namespace seqtrain::dist

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/dist/src/group.hpp>
#endif
