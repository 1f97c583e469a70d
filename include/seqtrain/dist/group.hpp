#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/group_connection.hpp>
#include <seqtrain/dist/pending.hpp>
#include <seqtrain/dist/world.hpp>

namespace seqtrain::dist {

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

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] int rank() const { return world_.rank; }
  [[nodiscard]] int size() const { return world_.size; }

  /// Returns the bytes that each rank passes, indexed by rank. Their sizes may differ.
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view bytes) {
    if (!connection_) return {std::string{bytes}};
    const auto sizes = gathered_sizes(bytes.size());
    const auto longest = *std::max_element(sizes.begin(), sizes.end());
    if (longest == 0) return std::vector<std::string>(sizes.size());
    auto in = at::zeros({longest}, at::kByte);
    std::memcpy(in.mutable_data_ptr(), bytes.data(), bytes.size());
    const auto out = at::empty({longest * size()}, at::kByte);
    connection_->pending(gathering(connection_->host(), out, in)).wait();
    std::vector<std::string> result;
    for (const auto length : sizes) {
      const auto offset = static_cast<std::int64_t>(result.size()) * longest;
      result.emplace_back(static_cast<const char*>(out.const_data_ptr()) + offset,
                          static_cast<std::size_t>(length));
    }
    return result;
  }

  /// Returns the bytes of rank 0. The arguments of other ranks are ignored.
  [[nodiscard]] std::string broadcast(std::string bytes) {
    if (!connection_) return bytes;
    std::uint64_t length = bytes.size();
    broadcast(std::as_writable_bytes(std::span{&length, 1}));
    bytes.resize(length);
    broadcast(std::as_writable_bytes(std::span{bytes}));
    return bytes;
  }

  /// Copies the bytes of rank 0 to all other ranks. The sizes must be equal.
  void broadcast(std::span<std::byte> bytes) {
    if (!connection_) return;
    // Sent in pieces with their own memory: if a rank is lost, a piece may be written to after this
    // has thrown.
    constexpr std::size_t piece = std::size_t{16} << 20;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const auto part = bytes.subspan(at, std::min(piece, bytes.size() - at));
      std::vector<at::Tensor> tensors{
          at::empty({static_cast<std::int64_t>(part.size())}, at::kByte)};
      auto* const data = tensors.front().mutable_data_ptr();
      if (rank() == 0) std::memcpy(data, part.data(), part.size());
      ::c10d::BroadcastOptions options;
      options.timeout = detail::endless;
      connection_->pending(connection_->host().broadcast(tensors, options)).wait();
      if (rank() != 0) std::memcpy(part.data(), data, part.size());
    }
  }

  /// Tells whether tensors must be in the host's memory though the processes compute on a device:
  /// it is no GPU of CUDA, or libseqtrain_nccl.so cannot be loaded.
  [[nodiscard]] bool through_host() const { return connection_ && connection_->through_host(); }

  /// Waits until all ranks have called it.
  void barrier() { static_cast<void>(all_gather("")); }

  /// Sends part r of `in` to rank r and writes the part from rank r to place r of `out`. The sizes
  /// are numbers of elements, one per rank; they may be 0. The tensors must be contiguous.
  [[nodiscard]] Pending all_to_all(at::Tensor out, const at::Tensor& in,
                                   std::vector<std::int64_t> out_sizes,
                                   std::vector<std::int64_t> in_sizes) {
    check_sizes(out, out_sizes);
    check_sizes(in, in_sizes);
    if (!connection_) return copy(out, in);
    ::c10d::AllToAllOptions options;
    options.timeout = detail::endless;
    auto to = out.view(-1), from = in.view(-1);
    return connection_->pending(
        connection_->tensors().alltoall_base(to, from, out_sizes, in_sizes, options));
  }

  /// Writes `in` of rank r to place r of `out`, which has `size()` times as many elements. The
  /// tensors must be contiguous.
  [[nodiscard]] Pending all_gather(at::Tensor out, const at::Tensor& in) {
    if (out.numel() != size() * in.numel()) throw Error{"all_gather: out is not size × in"};
    if (!connection_) return copy(out, in);
    if (in.numel() == 0) return {};
    return connection_->pending(gathering(connection_->tensors(), out.view(-1), in.view(-1)));
  }

  /// Replaces the elements of a contiguous tensor by their sums over all ranks. Every rank gets
  /// equal bits, which depend on the number of ranks.
  [[nodiscard]] Pending all_reduce(at::Tensor tensor) {
    if (!connection_ || tensor.numel() == 0) return {};
    std::vector<at::Tensor> tensors{tensor.view(-1)};
    ::c10d::AllreduceOptions options;
    options.timeout = detail::endless;
    return connection_->pending(connection_->tensors().allreduce(tensors, options));
  }

  /// Returns the value that the run has under `key`. The first start of the run makes it on rank 0,
  /// and the launcher's store keeps it for later starts. Without such a store every start makes it
  /// again. All ranks must call this.
  [[nodiscard]] Remembered remember(const std::string& key,
                                    const std::function<std::string()>& make) {
    if (!connection_ && !world_.agent_store) return {.value = make()};
    std::string answer;
    if (rank() == 0) {
      const auto [value, was_there] = recall("remember/" + key, make);
      answer = (was_there ? "1" : "0") + value;
    }
    answer = broadcast(std::move(answer));
    return {.value = answer.substr(1), .was_there = answer.front() == '1'};
  }

  /// Tries to tell the other ranks the error with which this one ends. They throw it with this
  /// rank's number in front.
  void fail_note(const std::string& error) noexcept {
    try {
      if (connection_) connection_->heartbeat().tell(error);
    } catch (const std::exception&) {  // The other ranks notice it themselves.
    }
  }

 private:
  Group(const World& world, const GroupOptions& options) : world_{world}, options_{options} {
    if (world.size > 1) connection_ = std::make_unique<detail::GroupConnection>(world, options);
  }

  [[nodiscard]] Remembered recall(const std::string& key,
                                  const std::function<std::string()>& make) {
    const auto store = run_store();
    if (store->check({key})) return {.value = store->get_to_str(key), .was_there = true};
    return {.value = store->compareSet(key, "", make())};
  }

  // A run of one process connects to the launcher's store only here, because the next start of the
  // run may have more processes.
  [[nodiscard]] StorePtr run_store() const {
    if (connection_) return connection_->run_store();
    return detail::prefixed(detail::run_prefix(world_),
                            open_store(world_, Clock::now() + options_.timeout));
  }

  [[nodiscard]] std::vector<std::int64_t> gathered_sizes(std::size_t own) {
    const auto in = at::empty({1}, at::kLong);
    *in.mutable_data_ptr<std::int64_t>() = static_cast<std::int64_t>(own);
    const auto out = at::empty({size()}, at::kLong);
    connection_->pending(gathering(connection_->host(), out, in)).wait();
    const auto* const data = out.const_data_ptr<std::int64_t>();
    return {data, data + size()};
  }

  static c10::intrusive_ptr<::c10d::Work> gathering(::c10d::Backend& backend, at::Tensor to,
                                                    at::Tensor from) {
    ::c10d::AllgatherOptions options;
    options.timeout = detail::endless;
    return backend._allgather_base(to, from, options);
  }

  static Pending copy(const at::Tensor& out, const at::Tensor& in) {
    if (out.numel() > 0) out.view(-1).copy_(in.view(-1));
    return {};
  }

  void check_sizes(const at::Tensor& tensor, const std::vector<std::int64_t>& sizes) const {
    const auto sum = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    if (static_cast<int>(sizes.size()) != size() || sum != tensor.numel()) {
      throw Error{"all_to_all: " + std::to_string(sizes.size()) + " parts of together " +
                  std::to_string(sum) + " elements do not fit " + std::to_string(size()) +
                  " ranks and a tensor of " + std::to_string(tensor.numel())};
    }
  }

  World world_;
  GroupOptions options_;
  std::unique_ptr<detail::GroupConnection> connection_;
};

}  // namespace seqtrain::dist
