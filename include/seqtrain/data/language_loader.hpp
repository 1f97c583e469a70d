#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/plan.hpp>

namespace seqtrain::data {

/// Options of `LanguageLoader`.
struct LanguageLoaderOptions {
  std::size_t batch_size = 64;  ///< number of streams that are read side by side
  std::size_t bptt = 70;        ///< mean number of words per stream in a batch
  /// `bucket` shuffles the texts and varies the lengths of batches from epoch to epoch. `file`
  /// keeps the order of the texts and makes batches of exactly `bptt` words.
  Order order = Order::bucket;
  std::uint64_t seed = 0;

  void validate() const {
    const Demand demand{"language model"};
    demand(batch_size >= 1 && batch_size < 1U << 20, "batch_size", "must be 1 to 1048575");
    demand(bptt >= 1 && bptt < 1U << 20, "bptt", "must be 1 to 1048575");
  }
};

namespace detail {

/// Returns the ends of the batches over streams of `length` words. Lengths are drawn as in Merity
/// et al. 2017, section 5: bptt, or half of it with probability 1/20, plus a normal deviate of 5,
/// but at least 5.
inline std::vector<std::size_t> stretch_ends(std::size_t length,
                                             const LanguageLoaderOptions& options,
                                             std::uint64_t epoch) {
  random::Stream stream{options.seed, random::Purpose::order, epoch, std::uint64_t{3}};
  const auto draw = [&] {
    const auto bptt = static_cast<double>(options.bptt);
    const double mean = stream.uniform() < 0.05 ? bptt / 2 : bptt;
    const double radius = std::sqrt(-2 * std::log(1 - stream.uniform()));  // Box and Muller 1958
    const double drawn = mean + 5 * radius * std::cos(2 * std::numbers::pi * stream.uniform());
    return static_cast<std::size_t>(std::max(std::min(5.0, bptt), drawn));
  };
  std::vector<std::size_t> ends;
  for (std::size_t end = 0; end < length;) {
    end += std::min(options.order == Order::file ? options.bptt : draw(), length - end);
    ends.push_back(end);
  }
  return ends;
}

}  // namespace detail

/// The texts of an epoch, joined and cut into streams of equal length, which are cut into batches.
class LanguageStreams {
 public:
  /// Throws `InputError` if the texts have fewer than two words for each stream.
  LanguageStreams(const EncodedSet& set, const LanguageLoaderOptions& options, std::int64_t epoch)
      : rows_{options.batch_size}, epoch_{epoch}, ids_(set.tokens()) {
    if (ids_.size() <= rows_) {
      throw InputError{"texts of " + std::to_string(ids_.size()) + " words are too short for " +
                           std::to_string(rows_) + " streams",
                       {.object = "language model"},
                       "use a smaller batch size or more text"};
    }
    std::vector<std::uint32_t> order = detail::first_numbers(set.size());
    if (options.order == Order::bucket) {
      random::Stream stream{options.seed, random::Purpose::order, static_cast<std::uint64_t>(epoch),
                            std::uint64_t{2}};
      random::shuffle(order, stream);
    }
    std::int32_t* out = ids_.data();
    for (const std::uint32_t row : order) {
      set.copy_row(row, out);
      out += set.length(row);
    }
    length_ = (ids_.size() - 1) / rows_;
    ends_ = detail::stretch_ends(length_, options, static_cast<std::uint64_t>(epoch));
  }

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::int64_t epoch() const { return epoch_; }

  /// Writes batch `index` to `batch`, whose memory is reused.
  void fill(std::size_t index, LanguageBatch& batch) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    const std::size_t width = ends_[index] - begin;
    batch.epoch = epoch_;
    batch.index = static_cast<std::int64_t>(index);
    batch.rows = static_cast<std::int64_t>(rows_);
    batch.width = static_cast<std::int64_t>(width);
    batch.input_ids.resize(rows_ * width);
    batch.labels.resize(rows_ * width);
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::int32_t* const ids = ids_.data() + row * length_ + begin;
      std::copy_n(ids, width, batch.input_ids.data() + row * width);
      std::copy_n(ids + 1, width, batch.labels.data() + row * width);
    }
  }

 private:
  std::size_t rows_;
  std::int64_t epoch_;
  std::vector<std::int32_t> ids_;
  std::size_t length_ = 0;         // words of each stream that are used
  std::vector<std::size_t> ends_;  // ends of the batches in each stream
};

/// A `Loader` for language models. It owns its encoded set. The order and the lengths of the
/// batches depend only on the seed and the epoch.
class LanguageLoader {
 public:
  using batch_type = LanguageBatch;

  /// Throws `InputError` if an option is out of range or there is too little text.
  explicit LanguageLoader(EncodedSet set, LanguageLoaderOptions options = {})
      : set_{std::move(set)}, options_{options} {
    options_.validate();
    streams(0);
  }

  [[nodiscard]] std::int64_t examples() const { return static_cast<std::int64_t>(set_.size()); }

  [[nodiscard]] std::int64_t batches_in(std::int64_t epoch) {
    return static_cast<std::int64_t>(streams(epoch)->size());
  }

  /// Returns the batches of an epoch from `first_batch` on, as a range for one pass. Each batch is
  /// made when it is requested.
  [[nodiscard]] OrderedWorkers<LanguageBatch> epoch(std::int64_t epoch,
                                                    std::int64_t first_batch = 0) {
    if (first_batch < 0 || first_batch > batches_in(epoch)) {
      throw InputError{"epoch " + std::to_string(epoch) + " has no batch " +
                       std::to_string(first_batch)};
    }
    constexpr std::size_t workers = 0, slots = 1;
    return {static_cast<std::size_t>(first_batch), streams(epoch)->size(), workers,
            std::vector<LanguageBatch>(slots),
            [all = streams(epoch)](std::size_t index, std::size_t, LanguageBatch& batch) {
              all->fill(index, batch);
            }};
  }

 private:
  /// Returns the streams of an epoch. The most recent ones are cached.
  const std::shared_ptr<const LanguageStreams>& streams(std::int64_t epoch) {
    if (!streams_ || streams_->epoch() != epoch) {
      streams_ = std::make_shared<const LanguageStreams>(set_, options_, epoch);
    }
    return streams_;
  }

  EncodedSet set_;
  LanguageLoaderOptions options_;
  std::shared_ptr<const LanguageStreams> streams_;
};

}  // namespace seqtrain::data
