#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/plan.hpp>

namespace seqtrain::data {

namespace detail {

SEQTRAIN_SEPARATE void describe_rows(const EncodedSet& set, std::span<const std::uint32_t> rows,
                                     const PlanOptions& options, Batch& batch) {
  batch.lengths.resize(rows.size());
  batch.labels.resize(rows.size());
  batch.row_ids.resize(rows.size());
  batch.targets.resize(rows.size() * set.targets_a_row());
  float* targets = batch.targets.data();
  std::size_t longest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t length = set.length(rows[i]);
    longest = std::max(longest, length);
    batch.lengths[i] = static_cast<std::int32_t>(length);
    batch.labels[i] = set.label(rows[i]);
    batch.row_ids[i] = rows[i];
    targets = std::ranges::copy(set.targets(rows[i]), targets).out;
  }
  batch.rows = static_cast<std::int64_t>(rows.size());
  batch.width = static_cast<std::int64_t>(options.padded(longest));
}

SEQTRAIN_SEPARATE std::uint64_t next_set() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace detail

SEQTRAIN_SEPARATE void describe_batch(const EncodedSet& set, std::span<const std::uint32_t> rows,
                                      const PlanOptions& options, Batch& batch) {
  detail::describe_rows(set, rows, options, batch);
  batch.input_ids.clear();
  batch.token_type_ids.clear();
}

SEQTRAIN_SEPARATE void collate(const EncodedSet& set, std::span<const std::uint32_t> rows,
                               const PlanOptions& options, Batch& batch) {
  set.visit_ids([&](const auto* all_ids) {
    detail::describe_rows(set, rows, options, batch);
    const auto size = static_cast<std::size_t>(batch.rows * batch.width);
    batch.input_ids.resize(size);
    batch.token_type_ids.resize(size);
    for (const std::uint32_t row : rows)
      detail::prefetch(all_ids + set.begin_of(row), set.length(row));
    std::int32_t* ids = batch.input_ids.data();
    std::int32_t* types = batch.token_type_ids.data();
    std::ranges::fill(batch.token_type_ids, 0);
    for (const std::uint32_t row : rows) {
      const std::size_t length = set.length(row);
      std::copy_n(all_ids + set.begin_of(row), length, ids);
      std::fill(ids + length, ids + batch.width, set.pad_id());
      std::fill(types + set.first_segment(row), types + length, 1);
      ids += batch.width;
      types += batch.width;
    }
  });
}

SEQTRAIN_SEPARATE void LoaderOptions::validate() const {
  plan.validate();
  shard.validate();
  const Demand demand{"loader"};
  demand(workers <= 1024, "workers", "must be at most 1024");
  demand(prefetch <= 1024, "prefetch", "must be at most 1024");
}

SEQTRAIN_SEPARATE BucketLoader::BucketLoader(EncodedSet set, LoaderOptions options)
    : set_{std::make_unique<const EncodedSet>(std::move(set))}, options_{options} {
  options_.validate();
  plan(0);
}

SEQTRAIN_SEPARATE OrderedWorkers<Batch> BucketLoader::epoch(std::int64_t epoch,
                                                            std::int64_t first_batch) {
  if (first_batch < 0 || first_batch > batches_in(epoch)) {
    throw InputError{"epoch " + std::to_string(epoch) + " has no batch " +
                     std::to_string(first_batch)};
  }
  const auto& shard = options_.shard;
  return {static_cast<std::size_t>(first_batch), plan(epoch).size(), options_.workers,
          std::vector<Batch>(options_.prefetch * shard.stride() + options_.workers + 1),
          [&set = *set_, number = set_number_, rows = plan(epoch), layout = options_.plan, shard,
           epoch](std::size_t index, std::size_t, Batch& batch) {
            batch.set = number;
            batch.epoch = epoch;
            batch.index = static_cast<std::int64_t>(index);
            if (shard.owns(batch.index)) {
              collate(set, rows[index], layout, batch);
            } else {
              describe_batch(set, rows[index], layout, batch);
            }
          }};
}

namespace detail {

/// Throws `Error` unless a plan of the program's own has batches, each with rows of the set.
inline void check_plan(const BatchPlan& plan, std::size_t rows, std::int64_t epoch) {
  const auto demand = [&](bool holds, const std::string& problem) {
    if (!holds) throw Error{"the plan of epoch " + std::to_string(epoch) + " " + problem};
  };
  demand(plan.size() > 0, "has no batch");
  demand(!plan.offsets.empty() && plan.offsets.back() <= plan.rows.size() &&
             std::ranges::is_sorted(plan.offsets),
         "has offsets that are not in order or end after its " + std::to_string(plan.rows.size()) +
             " rows");
  for (const std::uint32_t group : plan.order) {
    demand(group + std::size_t{1} < plan.offsets.size() &&
               plan.offsets[group] < plan.offsets[group + 1],
           "has a batch without rows: group " + std::to_string(group));
  }
  for (const std::uint32_t row : plan.rows) {
    demand(row < rows, "has row " + std::to_string(row) + ", but the set has " +
                           std::to_string(rows) + " rows, which count from 0");
  }
}

}  // namespace detail

SEQTRAIN_SEPARATE const BatchPlan& BucketLoader::plan(std::int64_t epoch) {
  if (planned_epoch_ != epoch) {
    if (options_.plan_of) {
      BatchPlan own = options_.plan_of(epoch);
      detail::check_plan(own, set_->size(), epoch);
      plan_ = std::move(own);
    } else {
      plan_ = make_plan(set_->lengths(), options_.plan, options_.seed,
                        static_cast<std::uint64_t>(epoch));
    }
    planned_epoch_ = epoch;
  }
  return plan_;
}

}  // namespace seqtrain::data
