#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/collate.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/plan.hpp>
#include <seqtrain/data/shard.hpp>

namespace seqtrain::data {

struct LoaderOptions {
  PlanOptions plan = {};
  std::uint64_t seed = 0;
  /// Threads that prepare batches ahead; 0: a batch is made when it is asked for.
  std::size_t workers = 1;
  /// Batches that lie ready, of those that this process computes.
  std::size_t prefetch = 4;
  /// Batches that this process computes; the others come in their turn, but are described only.
  Shard shard = {};

  void validate() const {
    const auto demand = [](bool good, const char* field) {
      if (!good) throw InputError{"must be at most 1024", {.object = "loader", .field = field}};
    };
    plan.validate();
    shard.validate();
    demand(workers <= 1024, "workers");
    demand(prefetch <= 1024, "prefetch");
  }
};

namespace detail {

/// A number that no other set of this process has.
inline std::uint64_t next_set() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace detail

/// The batches of an epoch, to be gone through once. Ending early is fine.
class EpochBatches {
 public:
  EpochBatches(const EncodedSet& set, std::uint64_t set_number, Plan plan,
               const LoaderOptions& options, std::int64_t epoch, std::int64_t first_batch)
      : plan_{std::move(plan)},
        workers_{
            static_cast<std::size_t>(first_batch), plan_.size(), options.workers,
            std::vector<Batch>(options.prefetch * options.shard.stride() + options.workers + 1),
            [this, &set, set_number, layout = options.plan, shard = options.shard, epoch](
                std::size_t index, std::size_t, Batch& batch) {
              batch.set = set_number;
              batch.epoch = epoch;
              batch.index = static_cast<std::int64_t>(index);
              if (shard.owns(batch.index)) {
                collate(set, plan_[index], layout, batch);
              } else {
                describe_batch(set, plan_[index], layout, batch);
              }
            }} {}

  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(OrderedWorkers<Batch>& workers)
        : workers_{&workers}, batch_{workers.next()} {}

    const Batch& operator*() const { return *batch_; }
    const Batch* operator->() const { return batch_; }
    Iterator& operator++() {
      batch_ = workers_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return batch_ == nullptr; }

   private:
    OrderedWorkers<Batch>* workers_ = nullptr;
    const Batch* batch_ = nullptr;
  };

  [[nodiscard]] Iterator begin() { return Iterator{workers_}; }
  [[nodiscard]] static std::default_sentinel_t end() { return {}; }

 private:
  Plan plan_;
  OrderedWorkers<Batch> workers_;
};

/// A `Loader` over an encoded set, which it owns: rows of similar length together, in an order that
/// follows from the seed and the epoch, padded, prepared ahead by threads. The batches are the same
/// at any number of them.
class BucketLoader {
 public:
  using batch_type = Batch;

  /// Throws `InputError` on options out of range and on a row above the cap on tokens.
  explicit BucketLoader(EncodedSet set, LoaderOptions options = {})
      : set_{std::make_unique<const EncodedSet>(std::move(set))}, options_{options} {
    options_.validate();
    plan(0);
  }

  [[nodiscard]] const EncodedSet& set() const { return *set_; }
  [[nodiscard]] std::int64_t examples() const { return static_cast<std::int64_t>(set_->size()); }

  [[nodiscard]] std::int64_t batches_in(std::int64_t epoch) {
    return static_cast<std::int64_t>(plan(epoch).size());
  }

  /// The batches of an epoch from `first_batch` on. They refer to this loader's set: it may be
  /// moved meanwhile, but must live.
  [[nodiscard]] EpochBatches epoch(std::int64_t epoch, std::int64_t first_batch = 0) {
    if (first_batch < 0 || first_batch > batches_in(epoch)) {
      throw InputError{"epoch " + std::to_string(epoch) + " has no batch " +
                       std::to_string(first_batch)};
    }
    return {*set_, set_number_, plan(epoch), options_, epoch, first_batch};
  }

 private:
  /// The epoch's plan; the last one made is kept.
  const Plan& plan(std::int64_t epoch) {
    if (planned_epoch_ != epoch) {
      plan_ = make_plan(set_->lengths(), options_.plan, options_.seed,
                        static_cast<std::uint64_t>(epoch));
      planned_epoch_ = epoch;
    }
    return plan_;
  }

  std::unique_ptr<const EncodedSet> set_;
  std::uint64_t set_number_ = detail::next_set();
  LoaderOptions options_;
  std::optional<std::int64_t> planned_epoch_;
  Plan plan_;
};

}  // namespace seqtrain::data
