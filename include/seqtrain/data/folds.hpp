#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/hold_out.hpp>

namespace seqtrain::data {

/// Returns the seed of the run on a fold, a number of 31 bits.
[[nodiscard]] inline std::int64_t seed_of_fold(std::int64_t seed, std::uint64_t fold) {
  return static_cast<std::int64_t>(random::mix(static_cast<std::uint64_t>(seed), fold) >> 33);
}

namespace detail {

/// Returns the rows of each fold in ascending order.
inline std::vector<std::vector<std::size_t>> rows_of_folds(std::span<const std::size_t> fold_of,
                                                           std::size_t folds) {
  std::vector<std::vector<std::size_t>> rows(folds);
  for (std::size_t row = 0; row < fold_of.size(); ++row) {
    if (fold_of[row] < folds) rows[fold_of[row]].push_back(row);
  }
  return rows;
}

/// Adds a group to the fold in which its labels are missing most. `counts` has the rows of each
/// label in each fold, `totals` those of all folds.
inline std::size_t choose_fold(const RowsOfGroup& group,
                               std::vector<std::map<std::int32_t, double>>& counts,
                               std::vector<std::size_t>& sizes,
                               const std::map<std::int32_t, double>& totals) {
  std::size_t best = 0;
  double least = 0;
  for (std::size_t fold = 0; fold < counts.size(); ++fold) {
    double cost = 0;  // by which the group raises the sum of squares of the folds' shares
    for (const auto& [label, count] : group.labels) {
      const double total = totals.at(label);
      cost += (2 * counts[fold][label] + count) * count / (total * total);
    }
    const bool better = cost < least || (cost == least && sizes[fold] < sizes[best]);
    if (fold > 0 && !better) continue;
    best = fold;
    least = cost;
  }
  for (const auto& [label, count] : group.labels) counts[best][label] += count;
  sizes[best] += group.rows.size();
  return best;
}

}  // namespace detail

/// Deals rows to folds so that each has about the same number of rows and the same share of each
/// label. Returns the rows of each fold in ascending order; rows without a label are in none. The
/// seed determines which rows they are. Throws `InputError` for fewer than two folds, and if a
/// label has fewer rows than there are folds.
[[nodiscard]] inline std::vector<std::vector<std::size_t>> folds_by_label(
    std::span<const std::int32_t> labels, std::size_t folds, std::uint64_t seed) {
  const Demand demand{"folds"};
  demand(folds >= 2, "folds", "must be two or more");
  std::map<std::int32_t, std::vector<std::size_t>> rows_of;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] >= 0) rows_of[labels[row]].push_back(row);
  }
  demand(!rows_of.empty(), "rows", "have no label");
  std::vector<std::size_t> fold_of(labels.size(), folds);
  std::size_t next = 0;  // goes on from label to label, so that the folds are of about one size
  for (auto& [label, rows] : rows_of) {
    demand(rows.size() >= folds, "label " + std::to_string(label), "has fewer rows than folds");
    random::Stream stream{seed, random::Purpose::data, static_cast<std::uint32_t>(label)};
    random::shuffle(rows, stream);
    for (const std::size_t row : rows) fold_of[row] = next++ % folds;
  }
  return detail::rows_of_folds(fold_of, folds);
}

/// Deals groups of rows to folds so that all rows of a group are in one fold, and each fold has
/// about the same share of each label. `groups` has the name of each row's group. Groups with a row
/// without a label are in no fold. The result is that of `folds_by_label`. Throws `InputError` for
/// fewer than two folds, and if there are fewer groups than folds.
[[nodiscard]] inline std::vector<std::vector<std::size_t>> folds_by_group(
    std::span<const std::int32_t> labels, std::span<const std::string> groups, std::size_t folds,
    std::uint64_t seed) {
  const Demand demand{"folds"};
  demand(folds >= 2, "folds", "must be two or more");
  demand(groups.size() == labels.size(), "groups", "must be one for each row");
  auto all = detail::rows_of_groups(groups, labels);
  std::erase_if(all, [](const auto& group) { return group.labels.contains(-1); });
  demand(all.size() >= folds, "groups", "are fewer than folds");
  std::map<std::int32_t, double> totals;
  for (const auto& group : all) {
    for (const auto& [label, count] : group.labels) totals[label] += count;
  }
  random::Stream stream{seed, random::Purpose::data, std::uint64_t{0}};
  random::shuffle(all, stream);
  std::ranges::stable_sort(all, std::greater{},
                           [](const auto& group) { return group.rows.size(); });
  std::vector<std::size_t> fold_of(labels.size(), folds), sizes(folds);
  std::vector<std::map<std::int32_t, double>> counts(folds);
  for (const auto& group : all) {
    const std::size_t fold = detail::choose_fold(group, counts, sizes, totals);
    for (const std::size_t row : group.rows) fold_of[row] = fold;
  }
  return detail::rows_of_folds(fold_of, folds);
}

}  // namespace seqtrain::data
