#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/random_split.hpp>

namespace seqtrain::data {

/// The examples of a training file in two sets, one of them held out for evaluation.
struct HeldOut {
  EncodedFile train;
  EncodedFile dev;
  std::vector<std::size_t> dev_rows = {};  ///< indexes of the dev rows in the whole file, ascending
};

/// Options of `hold_out`.
struct HoldOutOptions {
  double share = 0.1;          ///< fraction of all examples to hold out
  std::uint64_t seed = 0;      ///< determines which examples are held out
  double train_fraction = 1;   ///< fraction of the remaining examples to keep, from the first on
  std::size_t max_length = 0;  ///< most ids that an example could have
};

/// Holds out a share of a file's examples, with about the same share of each label. Both sets are
/// in memory, in the order of the file. `train` gets the whole file's numbers of records without a
/// gold label and of empty texts. Throws `InputError` if one of the two sets would be empty.
[[nodiscard]] inline HeldOut hold_out(const EncodedFile& whole, const HoldOutOptions& options) {
  RandomSplit split = split_by_label(whole.set.arrays().labels, options.share, options.seed);
  const std::size_t total = split.train.size();
  split.train.resize(detail::kept_of(total, "training set", options.train_fraction));
  const auto part = [&](const std::vector<std::size_t>& rows) {
    EncodedFile file{.set = whole.set.select(rows), .total = rows.size()};
    file.at_max_length = detail::count_at_length(file.set, options.max_length);
    return file;
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
