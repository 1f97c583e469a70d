#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/plan.hpp>

namespace seqtrain::data {
namespace detail {

/// Prefetches `count` values that will be read soon.
template <class T>
void prefetch(const T* values, std::size_t count) {
  constexpr std::size_t line = 64 / sizeof(T);
  for (std::size_t i = 0; i < count; i += line) __builtin_prefetch(values + i);
}

/// Fills the shape of a batch and the members that have one value per row.
SEQTRAIN_SEPARATE void describe_rows(const EncodedSet& set, std::span<const std::uint32_t> rows,
                                     const PlanOptions& options, Batch& batch);

/// Returns a number that is unique among the sets of this process.
SEQTRAIN_SEPARATE std::uint64_t next_set();

}  // namespace detail

/// Fills `batch` like `collate` but without the ids, for a batch that another process computes.
SEQTRAIN_SEPARATE void describe_batch(const EncodedSet& set, std::span<const std::uint32_t> rows,
                                      const PlanOptions& options, Batch& batch);

/// Fills `batch` with rows of the set, each padded to the length of the longest. Reuses the batch's
/// memory.
SEQTRAIN_SEPARATE void collate(const EncodedSet& set, std::span<const std::uint32_t> rows,
                               const PlanOptions& options, Batch& batch);

/// Options of `Loader`.
struct LoaderOptions {
  PlanOptions plan = {};
  std::uint64_t seed = 0;
  /// The number of threads that prepare batches ahead. With 0 a batch is made when it is requested.
  std::size_t workers = 1;
  /// The number of batches to prepare ahead, among those that this process computes.
  std::size_t prefetch = 4;
  /// The batches that this process computes. The loader returns the others, in order, without ids.
  Shard shard = {};
  /// Replaces `make_plan`, if it is given. Each batch has at least one row, and each row is one of
  /// the set.
  std::function<BatchPlan(std::int64_t epoch)> plan_of = {};

  void validate() const;
};

/// A `Loader` that owns its encoded set and makes padded batches of rows of similar length. The
/// order depends only on the seed and the epoch. Threads prepare batches ahead; their number does
/// not change the batches.
class BucketLoader {
 public:
  using batch_type = Batch;

  /// Throws `InputError` if an option is out of range or a row alone exceeds `tokens_per_batch`.
  explicit BucketLoader(EncodedSet set, LoaderOptions options = {});

  [[nodiscard]] std::int64_t examples() const { return static_cast<std::int64_t>(set_->size()); }

  [[nodiscard]] std::int64_t batches_in(std::int64_t epoch) {
    return static_cast<std::int64_t>(plan(epoch).size());
  }

  /// Returns the batches of an epoch from `first_batch` on, as a range for one pass, which may end
  /// early. They refer to this loader's set, so the loader must outlive them. The loader may be
  /// moved.
  [[nodiscard]] OrderedWorkers<Batch> epoch(std::int64_t epoch, std::int64_t first_batch = 0);

 private:
  /// Returns the plan of an epoch. The most recent plan is cached.
  const BatchPlan& plan(std::int64_t epoch);

  std::unique_ptr<const EncodedSet> set_;
  std::uint64_t set_number_ = detail::next_set();
  LoaderOptions options_;
  std::optional<std::int64_t> planned_epoch_;
  BatchPlan plan_;
};

}  // namespace seqtrain::data

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/data/src/loader.hpp>
#endif
