#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/buckets.hpp>
#include <seqtrain/dist/gradient_copy.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/tree.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::dist {

/// The way in which the gradients of several processes are summed. `exact` sums by one tree over
/// the parts of a step, so the bits do not depend on the number of processes. `ring` uses the
/// all-reduce of the communication library, whose bits depend on it.
enum class Reduction { exact, ring };

/// Returns the reduction with this name. Throws `InputError` if there is none.
[[nodiscard]] inline Reduction reduction_named(std::string_view name) {
  if (name == "exact") return Reduction::exact;
  if (name == "ring") return Reduction::ring;
  throw InputError{"unknown reduction '" + std::string{name} + "'", {}, "use exact or ring"};
}

/// The sums that one process adds to the exchange of a step: one for each of its subtrees, from
/// left to right. The gradients of the parameters hold the last sum, and `before` holds the others.
/// A process that has no part in the step has none.
struct OwnSums {
  std::span<const tensor::Parameter> parameters;
  std::span<const GradientCopy> before;
  at::Tensor losses;  ///< [batches of the step], zero for batches of other processes
};

/// Sums the gradients of a step over all processes of a group, so that each process has the whole
/// sum. Gradients are sent in buckets, from the last parameter to the first. Rows of tables that no
/// process has touched are not sent. In exact mode each process sums one slice of a bucket: slices
/// are scattered, summed in the order of the tree, and gathered.
///
/// On a CPU a separate thread does this, so buckets are sent while the gradients of earlier layers
/// are still computed.
class Exchange {
 public:
  Exchange(Group& group, std::int64_t replicas, Reduction reduction)
      : group_{&group}, replicas_{replicas}, reduction_{reduction} {}

  /// Starts the exchange of a step with this many parts. Every process of the group must call
  /// `begin` and `finish`.
  void begin(OwnSums own, std::int64_t parts) {
    own_ = std::move(own);
    find_subtrees(parts);
    if (reduction_ == Reduction::ring) {
      for (const GradientCopy& copy : own_.before) copy.add_to(own_.parameters);
    }
    ready_ = own_.parameters.size();
    if (own_.losses.device().is_cpu()) {
      thread_ = std::jthread{[this] {
        try {
          const tensor::OneThread alone;  // The threads of torch would keep a core busy.
          exchange();
        } catch (...) {
          error_ = std::current_exception();
        }
      }};
    }
  }

  /// Reports that the gradients of the parameters from number `first` on are complete.
  void ready(std::size_t first) {
    ready_ = first;
    ready_.notify_one();
  }

  /// Ends a step that has begun and cannot be finished. The other processes throw an error.
  void abandon(const std::string& problem) noexcept {
    group_->fail_note(problem);
    abandoned_ = true;
    ready(all_ready);
    if (thread_.joinable()) thread_.join();
  }

  /// Waits until the parameters hold the gradients and the losses of the whole step. Returns
  /// whether any process passed `stop`.
  bool finish(bool stop) {
    stop_ = stop;
    ready(all_ready);
    thread_.joinable() ? thread_.join() : exchange();
    if (error_) std::rethrow_exception(std::exchange(error_, {}));
    return stop_;
  }

 private:
  static constexpr std::size_t all_ready = static_cast<std::size_t>(-1);

  void exchange() {
    buckets_.cut_dense(own_.parameters);
    bool tables_cut = false;
    // The next bucket is sent while one is summed.
    for (std::size_t i = 0; i < buckets_.size() + 2; ++i) {
      if (i == buckets_.size() && !tables_cut) {
        wait_until_ready(all_ready);
        share_rows();
        buckets_.cut_others(own_.parameters, own_.losses.numel());
        tables_cut = true;
      }
      if (i < buckets_.size()) {
        if (!tables_cut) wait_until_ready(buckets_[i].pieces.back().parameter);
        send(i);
      }
      if (i > 0 && i <= buckets_.size()) add_up(i - 1);
      if (i > 1) receive(i - 2);
    }
    for_each_table(own_.parameters, [&](std::size_t, const tensor::Parameter& parameter) {
      parameter.touched->take_into_account(tensor::changes_of(parameter.gradient));
    });
  }

  void wait_until_ready(std::size_t parameter) const {
    for (;;) {
      const std::size_t first = ready_;
      if (abandoned_) throw Error{"the step was abandoned"};
      if (first == all_ready || (parameter != all_ready && first <= parameter)) return;
      ready_.wait(first);
    }
  }

  /// The buffers of a bucket that is being exchanged.
  struct Slot {
    at::Tensor in, out, whole;
    Pending sent, gathered;
  };

  [[nodiscard]] std::int64_t ranks() const { return group_->size(); }
  [[nodiscard]] const std::vector<Leaves>& own_subtrees() const {
    return subtrees_[static_cast<std::size_t>(group_->rank())];
  }
  [[nodiscard]] Slot& slot(std::size_t bucket) { return slots_[bucket % slots_.size()]; }

  /// Returns the number of elements in each process's slice of a bucket.
  [[nodiscard]] std::int64_t slice_of(const Bucket& bucket) const {
    return (bucket.count + ranks() - 1) / ranks();
  }

  void find_subtrees(std::int64_t parts) {
    root_ = {0, parts};
    subtrees_.clear();
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      subtrees_.push_back(largest_subtrees(root_, leaves_of(rank, ranks(), replicas_)));
    }
  }

  /// Tells the other processes which rows of the tables this one has touched, and whether it should
  /// stop. Afterwards `Parameter::touched` has the rows that any process has touched.
  void share_rows() {
    std::string message{stop_ ? '\1' : '\0'};
    for_each_table(own_.parameters, [&](std::size_t i, const tensor::Parameter& parameter) {
      tensor::find_touched(parameter);
      for (const GradientCopy& copy : own_.before) copy.insert_rows(i, *parameter.touched);
      append_runs(message, *parameter.touched);
    });
    for (const std::string& other : group_->all_gather(message)) {
      if (other.empty()) throw Error{"an empty message from another process"};
      stop_ = stop_ || other.front() == '\1';
      std::size_t at = 1;
      for_each_table(own_.parameters, [&](std::size_t, const tensor::Parameter& parameter) {
        insert_runs(other, at, *parameter.touched);
      });
    }
  }

  [[nodiscard]] at::Tensor numbers_of(const Piece& piece) const {
    const at::Tensor& whole =
        piece.parameter == Piece::losses ? own_.losses : own_.parameters[piece.parameter].gradient;
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
        own_.before[subtree].copy(piece.parameter, piece.begin, piece.count, to);
      }
    });
    out.narrow(0, bucket.count, out.numel() - bucket.count).zero_();
  }

  void send(std::size_t index) {
    const Bucket& bucket = buckets_[index];
    Slot& at = slot(index);
    if (reduction_ == Reduction::ring) {
      stage(bucket, 0, resize(at.whole, bucket.count));
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
        stage(bucket, static_cast<std::size_t>(i), resize(at.whole, ranks() * slice));
        at.in.view({ranks(), own, slice}).select(1, i).copy_(at.whole.view({ranks(), slice}));
      }
    }
    std::vector<std::int64_t> sent(static_cast<std::size_t>(ranks()), own * slice), got;
    std::int64_t all = 0;
    for (const auto& subtrees : subtrees_) {
      got.push_back(static_cast<std::int64_t>(subtrees.size()) * slice);
      all += got.back();
    }
    at.sent = group_->all_to_all(resize(at.out, all), at.in, got, sent);
  }

  void add_up(std::size_t index) {
    if (reduction_ == Reduction::ring) return;
    Slot& at = slot(index);
    at.sent.wait();
    const std::int64_t slice = slice_of(buckets_[index]);
    std::vector<std::pair<Leaves, at::Tensor>> sums;
    for (const auto& subtrees : subtrees_) {
      for (const Leaves& leaves : subtrees) {
        const auto begin = static_cast<std::int64_t>(sums.size()) * slice;
        sums.emplace_back(leaves, at.out.narrow(0, begin, slice));
      }
    }
    const auto* next = sums.data();
    const at::Tensor sum = add_tree(root_, next);
    at.gathered = group_->all_gather(resize(at.whole, ranks() * slice), sum);
  }

  /// Returns the sum of a node. `next` points to the sum of its first subtree and is moved past the
  /// last one.
  static at::Tensor add_tree(const Leaves& node, const std::pair<Leaves, at::Tensor>*& next) {
    if (next->first == node) return (next++)->second;
    const auto [left, right] = node.children();
    const at::Tensor sum = add_tree(left, next);
    return sum.add_(add_tree(right, next));
  }

  void receive(std::size_t index) {
    Slot& at = slot(index);
    at.gathered.wait();
    buckets_[index].for_each_piece(at.whole, [&](const Piece& piece, const at::Tensor& from) {
      numbers_of(piece).copy_(from);
    });
  }

  /// Resizes a tensor of one dimension. Its memory is reused.
  at::Tensor& resize(at::Tensor& tensor, std::int64_t size) const {
    if (!tensor.defined()) tensor = at::empty({size}, own_.losses.options());
    tensor.resize_({size});
    return tensor;
  }

  Group* group_;
  std::int64_t replicas_;
  Reduction reduction_;
  OwnSums own_;
  Leaves root_;
  std::vector<std::vector<Leaves>> subtrees_;  // by rank
  Buckets buckets_;
  std::array<Slot, 3> slots_;
  std::atomic<std::size_t> ready_ = 0;
  std::atomic<bool> abandoned_ = false;
  bool stop_ = false;
  std::exception_ptr error_;
  std::jthread thread_;  // The last member, because it uses the others.
};

}  // namespace seqtrain::dist
