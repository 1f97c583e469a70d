#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/encode_file_options.hpp>
#include <seqtrain/data/encoded_file.hpp>

namespace seqtrain::data {

/// The indexes of rows in two parts.
struct RandomSplit {
  std::vector<std::size_t> train;
  std::vector<std::size_t> held_out;
};

namespace detail {

/// The rows of a label. Some of them are held out.
struct RowsOfLabel {
  std::vector<std::size_t> rows = {};
  std::size_t held_out = 0;
  double rest = 0;  ///< fraction of a row that rounding has cut off
};

/// Chooses how many rows of each label are held out: in total the rounded share of all rows, and
/// for each label as close to its share as possible. At least one row of each label is not held
/// out.
inline void share_out(std::map<std::int32_t, RowsOfLabel>& labels, std::size_t count,
                      double share) {
  auto left = static_cast<std::size_t>(std::nearbyint(share * static_cast<double>(count)));
  std::vector<RowsOfLabel*> by_rest;
  for (auto& [label, of_label] : labels) {
    const double exact = share * static_cast<double>(of_label.rows.size());
    of_label.held_out = static_cast<std::size_t>(exact);
    of_label.rest = exact - std::floor(exact);
    left -= std::min(left, of_label.held_out);
    by_rest.push_back(&of_label);
  }
  std::ranges::stable_sort(by_rest, std::greater{}, &RowsOfLabel::rest);
  for (RowsOfLabel* of_label : by_rest) {
    if (left == 0) break;
    if (of_label->held_out + 1 >= of_label->rows.size()) continue;
    ++of_label->held_out;
    --left;
  }
}

}  // namespace detail

/// Splits rows so that about an equal share of each label is held out, but no row without a label.
/// The seed determines which rows. Both parts are in ascending order. Throws `InputError` for fewer
/// than two rows or a share out of range, and if no row can be held out.
[[nodiscard]] inline RandomSplit split_by_label(std::span<const std::int32_t> labels, double share,
                                                std::uint64_t seed) {
  const Demand demand{"split"};
  demand(share > 0 && share < 1, "share", "must be above 0 and below 1");
  demand(labels.size() >= 2, "rows", "must be two or more");
  std::map<std::int32_t, detail::RowsOfLabel> rows_of;
  RandomSplit split;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    (labels[row] < 0 ? split.train : rows_of[labels[row]].rows).push_back(row);
  }
  detail::share_out(rows_of, labels.size() - split.train.size(), share);
  for (auto& [label, of_label] : rows_of) {
    random::Stream stream{seed, random::Purpose::data, static_cast<std::uint32_t>(label)};
    random::shuffle(of_label.rows, stream);
    const auto middle = of_label.rows.begin() + static_cast<std::ptrdiff_t>(of_label.held_out);
    split.held_out.insert(split.held_out.end(), of_label.rows.begin(), middle);
    split.train.insert(split.train.end(), middle, of_label.rows.end());
  }
  if (split.held_out.empty()) {
    throw InputError{"the share holds out no row of " + std::to_string(labels.size()),
                     {.object = "split", .field = "share"}};
  }
  std::ranges::sort(split.held_out);
  std::ranges::sort(split.train);
  return split;
}

namespace detail {

/// The rows of a group and how many of them have each label.
struct RowsOfGroup {
  std::vector<std::size_t> rows = {};
  std::map<std::int32_t, double> labels = {};
};

/// Returns the groups in the order in which they first come.
inline std::vector<RowsOfGroup> rows_of_groups(std::span<const std::string> groups,
                                               std::span<const std::int32_t> labels) {
  std::map<std::string_view, std::size_t> numbers;
  std::vector<RowsOfGroup> found;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto [number, is_new] = numbers.emplace(groups[row], found.size());
    if (is_new) found.emplace_back();
    RowsOfGroup& group = found[number->second];
    group.rows.push_back(row);
    ++group.labels[labels[row]];
  }
  return found;
}

/// Tells whether the numbers of held out rows come nearer to what is wanted of each label if a
/// group is held out too. `missing` has the number of rows that are wanted and not held out yet.
inline bool comes_nearer(const RowsOfGroup& group, std::map<std::int32_t, double>& missing) {
  double before = 0, after = 0;
  for (const auto& [label, count] : group.labels) {
    before += missing[label] * missing[label];
    after += (missing[label] - count) * (missing[label] - count);
  }
  return after < before;
}

}  // namespace detail

/// Splits rows so that all rows of a group are in one part, and the part that is held out has about
/// the same share of each label. Groups with a row without a label are not held out. `groups` has
/// the name of each row's group. The seed determines which groups are held out. Both parts are in
/// ascending order. Throws `InputError` if there are fewer than two groups or a part would be
/// empty.
[[nodiscard]] inline RandomSplit split_by_group(std::span<const std::int32_t> labels,
                                                std::span<const std::string> groups, double share,
                                                std::uint64_t seed) {
  const Demand demand{"split"};
  demand(share > 0 && share < 1, "share", "must be above 0 and below 1");
  demand(groups.size() == labels.size(), "groups", "must be one for each row");
  auto all = detail::rows_of_groups(groups, labels);
  demand(all.size() >= 2, "groups", "must be two or more");
  std::map<std::int32_t, double> missing;
  for (const std::int32_t label : labels) missing[label] += share;
  random::Stream stream{seed, random::Purpose::data, std::uint64_t{0}};
  random::shuffle(all, stream);
  std::ranges::stable_sort(all, std::greater{},
                           [](const auto& group) { return group.rows.size(); });
  RandomSplit split;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const detail::RowsOfGroup& group = all[i];
    const bool is_last = i + 1 == all.size();
    const bool allowed = !group.labels.contains(-1) && !(is_last && split.train.empty());
    const bool needed = is_last && split.held_out.empty();
    const bool held_out = allowed && (needed || detail::comes_nearer(group, missing));
    auto& part = held_out ? split.held_out : split.train;
    part.insert(part.end(), group.rows.begin(), group.rows.end());
    if (!held_out) continue;
    for (const auto& [label, count] : group.labels) missing[label] -= count;
  }
  demand(!split.held_out.empty(), "share", "holds out no group");
  std::ranges::sort(split.held_out);
  std::ranges::sort(split.train);
  return split;
}

/// Returns the indexes of a fraction of rows: about the same fraction of the rows of each label,
/// but one row at least, spread evenly over them. Labels are those of all rows, or one for all if
/// they are targets. Throws `InputError` if no row is left.
[[nodiscard]] inline std::vector<std::size_t> sample_by_label(std::span<const std::int32_t> labels,
                                                              double fraction,
                                                              const std::string& name) {
  std::map<std::int32_t, detail::RowsOfLabel> rows_of;
  for (std::size_t row = 0; row < labels.size(); ++row) rows_of[labels[row]].rows.push_back(row);
  std::size_t left = detail::kept_of(labels.size(), name, fraction);
  std::vector<detail::RowsOfLabel*> by_rest;
  for (auto& [label, of_label] : rows_of) {
    const double exact = fraction * static_cast<double>(of_label.rows.size());
    of_label.held_out = std::min(of_label.rows.size(), static_cast<std::size_t>(exact));
    of_label.rest = exact - std::floor(exact);
    left -= std::min(left, of_label.held_out);
    by_rest.push_back(&of_label);
  }
  std::ranges::stable_sort(by_rest, std::greater{}, &detail::RowsOfLabel::rest);
  std::vector<std::size_t> sample;
  for (detail::RowsOfLabel* of_label : by_rest) {
    const std::size_t count = of_label->rows.size();
    const bool more = of_label->held_out < count && (left > 0 || of_label->held_out == 0);
    const std::size_t kept = of_label->held_out + (more ? 1 : 0);
    if (more && left > 0) --left;
    for (std::size_t i = 0; i < kept; ++i) {
      sample.push_back(of_label->rows[(2 * i + 1) * count / (2 * kept)]);
    }
  }
  std::ranges::sort(sample);
  return sample;
}

/// The examples of a training file in two sets, one of them held out for evaluation.
struct HeldOut {
  EncodedFile train;
  EncodedFile dev;
  std::vector<std::size_t> train_rows = {};  ///< indexes of the training rows in the whole file
  std::vector<std::size_t> dev_rows = {};  ///< indexes of the dev rows in the whole file, ascending
};

/// Options of `hold_out`.
struct HoldOutOptions {
  double share = 0.1;         ///< fraction of all examples to hold out
  std::uint64_t seed = 0;     ///< determines which examples are held out
  double train_fraction = 1;  ///< fraction of the remaining examples to keep: `sample_by_label`
  /// The name of each example's group, if the examples of a group are to stay together.
  std::span<const std::string> groups = {};
};

/// Returns a fraction of a file's examples, by `sample_by_label`, in memory. Sets `rows` to their
/// indexes in the file; all examples are returned as they are, with no `rows`.
[[nodiscard]] inline EncodedFile sample_of(EncodedFile whole, double fraction,
                                           std::vector<std::size_t>& rows) {
  rows.clear();
  if (fraction == 1) return whole;
  rows = sample_by_label(whole.set.arrays().labels, fraction, "training set");
  if (rows.size() < whole.set.size()) whole.set = whole.set.select(rows);
  return whole;
}

namespace detail {

/// Returns the examples of a file in the two sets of a split. Of those for training, a fraction is
/// kept by `sample_by_label`.
inline HeldOut parts_of(const EncodedFile& whole, RandomSplit split, double train_fraction) {
  const auto labels = whole.set.arrays().labels;
  const std::size_t total = split.train.size();
  std::vector<std::int32_t> labels_of_train;
  for (const std::size_t row : split.train) labels_of_train.push_back(labels[row]);
  std::vector<std::size_t> train;
  for (const std::size_t i : sample_by_label(labels_of_train, train_fraction, "training set")) {
    train.push_back(split.train[i]);
  }
  const auto part = [&](const std::vector<std::size_t>& rows) {
    return EncodedFile{
        .set = whole.set.select(rows), .total = rows.size(), .max_length = whole.max_length};
  };
  HeldOut parts{.train = part(train),
                .dev = part(split.held_out),
                .train_rows = std::move(train),
                .dev_rows = std::move(split.held_out)};
  parts.train.total = total;
  parts.train.left_out = whole.left_out;
  parts.train.empty_texts = whole.empty_texts;
  return parts;
}

}  // namespace detail

/// Holds out a share of a file's examples, with about the same share of each label. Both sets are
/// in memory, in the order of the file. `train` gets the whole file's numbers of records without a
/// gold label and of empty texts. Throws `InputError` if one of the two sets would be empty.
[[nodiscard]] inline HeldOut hold_out(const EncodedFile& whole, const HoldOutOptions& options) {
  const auto labels = whole.set.arrays().labels;
  return detail::parts_of(whole,
                          options.groups.empty()
                              ? split_by_label(labels, options.share, options.seed)
                              : split_by_group(labels, options.groups, options.share, options.seed),
                          options.train_fraction);
}

/// Holds out these rows of a file, in ascending order, and keeps a fraction of the others.
[[nodiscard]] inline HeldOut hold_out_rows(const EncodedFile& whole, std::vector<std::size_t> rows,
                                           double train_fraction = 1) {
  RandomSplit split;
  for (std::size_t row = 0, next = 0; row < whole.set.size(); ++row) {
    const bool is_held_out = next < rows.size() && rows[next] == row;
    if (is_held_out) {
      ++next;
    } else {
      split.train.push_back(row);
    }
  }
  split.held_out = std::move(rows);
  return detail::parts_of(whole, std::move(split), train_fraction);
}

}  // namespace seqtrain::data
