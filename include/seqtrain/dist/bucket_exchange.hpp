#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <seqtrain/dist/buckets.hpp>
#include <seqtrain/dist/exchange_stream.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/own_sums.hpp>
#include <seqtrain/dist/pending.hpp>
#include <seqtrain/dist/reduction.hpp>
#include <seqtrain/dist/tree.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::dist {

/// Exchanges the buckets of a step in three stages: `send`, `add_up` and `receive`, each of which
/// takes the buckets in order. At most three buckets may be between `send` and `receive`. On a
/// device all work is queued on the calling thread's current stream. Without NCCL tensors go
/// through pinned memory, and `send` waits for the copy.
class BucketExchange {
 public:
  BucketExchange(Group& group, std::int64_t replicas, Reduction reduction)
      : group_{&group}, replicas_{replicas}, reduction_{reduction} {}

  /// Begins a step with this many parts. `stream` is that of a device, on which the stages run.
  void begin(const OwnSums& own, std::int64_t parts, const ExchangeStream* stream) {
    own_ = own;
    stream_ = stream;
    root_ = {0, parts};
    subtrees_.clear();
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      subtrees_.push_back(largest_subtrees(root_, leaves_of(rank, ranks(), replicas_)));
    }
    sent_ = summed_ = received_ = 0;
    queued_.clear();
    collected_.clear();
    if (reduction_ == Reduction::exact) return;
    for (const GradientCopy& copy : own_.before) copy.add_to(own_.parameters);
  }

  /// Collects the rows of tables that are exchanged.
  void collect_rows() {
    collected_.resize(own_.parameters.size());
    for_each_table(own_.parameters, [&](std::size_t i, const tensor::Parameter& parameter) {
      const auto count = static_cast<std::int64_t>(parameter.touched->count());
      const auto on_host = at::TensorOptions{at::kLong}.pinned_memory(stream_ != nullptr);
      const at::Tensor numbers = at::empty({count}, on_host);
      auto* next = numbers.mutable_data_ptr<std::int64_t>();
      parameter.touched->for_each_run([&](std::size_t first, std::size_t end) {
        for (; first < end; ++first) *next++ = static_cast<std::int64_t>(first);
      });
      CollectedRows& at = collected_[i];
      at.numbers = numbers.to(parameter.gradient.device(), /*non_blocking=*/true);
      if (reduction_ == Reduction::exact) {
        for (const GradientCopy& copy : own_.before) {
          keep(copy.values(i));
          at.sums.push_back(copy.rows(i, at.numbers));
        }
      }
      keep(parameter.gradient);
      at.sums.push_back(parameter.gradient.index_select(0, at.numbers));
    });
  }

  /// Copies the rows that have been collected back to the gradients.
  void return_rows() {
    for_each_table(own_.parameters, [&](std::size_t i, const tensor::Parameter& parameter) {
      const auto& [numbers, sums] = collected_[i];
      parameter.gradient.index_copy_(0, numbers, sums.back());
    });
  }

  /// Sends the slices of the next bucket.
  void send(const Bucket& bucket) {
    Slot& at = slots_[sent_++ % slots_.size()];
    at.bucket = bucket;
    if (reduction_ == Reduction::ring) {
      stage(bucket, 0, resize(at.in, bucket.count));
      at.whole = shared(at);
      at.gathered = group_->all_reduce(at.whole);
      return;
    }
    const std::int64_t slice = slice_of(bucket);
    const auto own = static_cast<std::int64_t>(own_subtrees().size());
    resize(at.in, ranks() * own * slice);
    if (own == 1) {
      stage(bucket, 0, at.in);
    } else {
      for (std::int64_t i = 0; i < own; ++i) {  // [rank, subtree, slice]
        stage(bucket, static_cast<std::size_t>(i), resize(part_, ranks() * slice));
        at.in.view({ranks(), own, slice}).select(1, i).copy_(part_.view({ranks(), slice}));
      }
    }
    std::vector<std::int64_t> sent(static_cast<std::size_t>(ranks()), own * slice), got;
    std::int64_t all = 0;
    for (const auto& subtrees : subtrees_) {
      got.push_back(static_cast<std::int64_t>(subtrees.size()) * slice);
      all += got.back();
    }
    at.sent = group_->all_to_all(resize_shared(at.out, all), shared(at), got, sent);
  }

  /// Sums this process's slice of the next bucket that was sent, and sends the sum.
  void add_up() {
    Slot& at = slots_[summed_++ % slots_.size()];
    if (reduction_ == Reduction::ring) return;
    order(at.sent);
    const std::int64_t slice = slice_of(at.bucket);
    std::vector<std::pair<Leaves, at::Tensor>> sums;
    for (const auto& subtrees : subtrees_) {
      for (const Leaves& leaves : subtrees) {
        const auto begin = static_cast<std::int64_t>(sums.size()) * slice;
        sums.emplace_back(leaves, at.out.narrow(0, begin, slice));
      }
    }
    const auto* next = sums.data();
    const at::Tensor sum = add_tree(root_, next);
    at.gathered = group_->all_gather(resize_shared(at.whole, ranks() * slice), sum);
  }

  /// Copies the sums of the next bucket to the gradients.
  void receive() {
    Slot& at = slots_[received_++ % slots_.size()];
    order(at.gathered);
    if (through_host()) resize(at.in, at.whole.numel()).copy_(at.whole, /*non_blocking=*/true);
    at.bucket.for_each_piece(
        through_host() ? at.in : at.whole,
        [&](const Piece& piece, const at::Tensor& from) { numbers_of(piece).copy_(from); });
  }

  /// Waits on this thread until at most `left` operations of the group are unfinished. Notices lost
  /// ranks.
  void wait(std::size_t left = 0) {
    for (; queued_.size() > left; queued_.pop_front()) queued_.front().wait();
  }

 private:
  /// The buffers of a bucket that is being exchanged. The group reads and writes `shared`, `out`
  /// and `whole`, which are in pinned memory if tensors go through the host.
  struct Slot {
    Bucket bucket;
    at::Tensor in, shared, out, whole;
    Pending sent, gathered;
  };

  /// The rows of a table that are exchanged, of each sum of this process in order.
  struct CollectedRows {
    at::Tensor numbers;
    std::vector<at::Tensor> sums;  ///< [rows, width] each
  };

  [[nodiscard]] std::int64_t ranks() const { return group_->size(); }
  [[nodiscard]] const std::vector<Leaves>& own_subtrees() const {
    return subtrees_[static_cast<std::size_t>(group_->rank())];
  }
  [[nodiscard]] bool through_host() const { return stream_ != nullptr && group_->through_host(); }

  /// Returns the number of elements in each process's slice of a bucket.
  [[nodiscard]] std::int64_t slice_of(const Bucket& bucket) const {
    return (bucket.count + ranks() - 1) / ranks();
  }

  void keep(const at::Tensor& tensor) const {
    if (stream_ != nullptr) stream_->keep(tensor);
  }

  [[nodiscard]] bool is_table(const Piece& piece) const {
    return static_cast<bool>(own_.parameters[piece.parameter].touched);
  }

  /// Returns a piece of the last of this process's sums.
  [[nodiscard]] at::Tensor numbers_of(const Piece& piece) const {
    if (piece.parameter == Piece::losses) return part_of(own_.losses, piece);
    return part_of(is_table(piece) ? collected_[piece.parameter].sums.back()
                                   : own_.parameters[piece.parameter].gradient,
                   piece);
  }

  [[nodiscard]] at::Tensor part_of(const at::Tensor& whole, const Piece& piece) const {
    keep(whole);
    return flat(whole).narrow(0, piece.begin, piece.count);
  }

  /// Copies a bucket of this process's sum with the index `subtree` to `out` [at least
  /// bucket.count].
  void stage(const Bucket& bucket, std::size_t subtree, const at::Tensor& out) const {
    const bool last = subtree + 1 == own_subtrees().size() || reduction_ == Reduction::ring;
    bucket.for_each_piece(out, [&](const Piece& piece, const at::Tensor& to) {
      if (last) {
        to.copy_(numbers_of(piece));
      } else if (piece.parameter == Piece::losses) {
        to.zero_();
      } else {
        to.copy_(part_of(is_table(piece) ? collected_[piece.parameter].sums[subtree]
                                         : own_.before[subtree].values(piece.parameter),
                         piece));
      }
    });
    out.narrow(0, bucket.count, out.numel() - bucket.count).zero_();
  }

  /// Makes what follows come after an operation. `queued_` keeps it if only the stream waits for
  /// it.
  void order(Pending& operation) {
    operation.order();
    queued_.push_back(std::move(operation));
    wait(most_queued);
  }

  /// Returns the contents of `slot.in` where the group reads them.
  [[nodiscard]] const at::Tensor& shared(Slot& slot) const {
    if (!through_host()) return slot.in;
    resize_shared(slot.shared, slot.in.numel()).copy_(slot.in, /*non_blocking=*/true);
    stream_->wait();  // also for copies of the slot's earlier bucket
    return slot.shared;
  }

  /// Returns the sum of a node. `next` points to the sum of its first subtree and is moved past the
  /// last one.
  static at::Tensor add_tree(const Leaves& node, const std::pair<Leaves, at::Tensor>*& next) {
    if (next->first == node) return (next++)->second;
    const auto [left, right] = node.children();
    const at::Tensor sum = add_tree(left, next);
    return sum.add_(add_tree(right, next));
  }

  /// Resizes a tensor of one dimension. Its memory is reused.
  at::Tensor& resize(at::Tensor& tensor, std::int64_t size) const {
    return resize(tensor, size, own_.losses.options());
  }
  at::Tensor& resize_shared(at::Tensor& tensor, std::int64_t size) const {
    auto options = own_.losses.options();
    if (through_host()) options = options.device(at::kCPU).pinned_memory(true);
    return resize(tensor, size, options);
  }
  static at::Tensor& resize(at::Tensor& tensor, std::int64_t size, at::TensorOptions options) {
    if (!tensor.defined()) tensor = at::empty({size}, options);
    tensor.resize_({size});
    return tensor;
  }

  /// The number of operations that may be queued. A device's queue is limited, and a thread that
  /// waits for a place in it notices no lost rank.
  static constexpr std::size_t most_queued = 16;

  Group* group_;
  std::int64_t replicas_;
  Reduction reduction_;
  OwnSums own_;
  const ExchangeStream* stream_ = nullptr;
  Leaves root_;
  std::vector<std::vector<Leaves>> subtrees_;  // by rank
  std::array<Slot, 3> slots_;
  std::size_t sent_ = 0, summed_ = 0, received_ = 0;  // buckets
  std::vector<CollectedRows> collected_;              // by parameter
  at::Tensor part_;                                   // a bucket of one of several subtrees
  std::deque<Pending> queued_;
};

}  // namespace seqtrain::dist
