#pragma once

#include <algorithm>
#include <cmath>
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
#include <seqtrain/data/encode_file.hpp>
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

/// The examples of a training file in two sets, one of them held out for evaluation.
struct HeldOut {
  EncodedFile train;
  EncodedFile dev;
  std::vector<std::size_t> dev_rows = {};  ///< indexes of the dev rows in the whole file, ascending
};

/// Options of `hold_out`.
struct HoldOutOptions {
  double share = 0.1;         ///< fraction of all examples to hold out
  std::uint64_t seed = 0;     ///< determines which examples are held out
  double train_fraction = 1;  ///< fraction of the remaining examples to keep, from the first on
};

/// Holds out a share of a file's examples, with about the same share of each label. Both sets are
/// in memory, in the order of the file. `train` gets the whole file's numbers of records without a
/// gold label and of empty texts. Throws `InputError` if one of the two sets would be empty.
[[nodiscard]] inline HeldOut hold_out(const EncodedFile& whole, const HoldOutOptions& options) {
  RandomSplit split = split_by_label(whole.set.arrays().labels, options.share, options.seed);
  const std::size_t total = split.train.size();
  split.train.resize(detail::kept_of(total, "training set", options.train_fraction));
  const auto part = [&](const std::vector<std::size_t>& rows) {
    return EncodedFile{
        .set = whole.set.select(rows), .total = rows.size(), .max_length = whole.max_length};
  };
  HeldOut parts{.train = part(split.train),
                .dev = part(split.held_out),
                .dev_rows = std::move(split.held_out)};
  parts.train.total = total;
  parts.train.left_out = whole.left_out;
  parts.train.empty_texts = whole.empty_texts;
  return parts;
}

}  // namespace seqtrain::data
