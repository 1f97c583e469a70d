#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/plan.hpp>

namespace seqtrain::data {

/// Returns the rows of examples whose texts are apart: 2 i and 2 i + 1 for each example i.
template <class Row>
[[nodiscard]] std::vector<Row> rows_of_pairs(std::span<const Row> examples) {
  std::vector<Row> rows;
  rows.reserve(2 * examples.size());
  for (const Row i : examples) rows.insert(rows.end(), {2 * i, 2 * i + 1});
  return rows;
}

/// Returns the options of a loader whose batches have both rows of each pair, 2 i and 2 i + 1, next
/// to each other. `batch_size` then counts pairs, and pairs of similar length share a batch.
[[nodiscard]] inline LoaderOptions in_pairs(const EncodedSet& set, LoaderOptions options) {
  std::vector<std::size_t> lengths;  // a pair takes twice the width of its longer row
  for (std::size_t row = 0; row + 1 < set.size(); row += 2) {
    lengths.push_back(2 * std::max(set.length(row), set.length(row + 1)));
  }
  PlanOptions plan = options.plan;
  plan.pad_to_multiple_of *= 2;
  options.plan_of = [lengths = std::move(lengths), plan, seed = options.seed](std::int64_t epoch) {
    auto made = make_plan(lengths, plan, seed, static_cast<std::uint64_t>(epoch));
    made.rows = rows_of_pairs(std::span<const std::uint32_t>{made.rows});
    for (auto& offset : made.offsets) offset *= 2;
    return made;
  };
  return options;
}

}  // namespace seqtrain::data
