#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/random.hpp>

namespace seqtrain::data {

/// The batches of an epoch that one of several processes computes. Runs of `accumulation` batches
/// are assigned to the leaves of a step in turn. The process has the leaves `first` to `last` - 1.
/// By default it owns every batch.
struct Shard {
  std::int64_t replicas = 1;      ///< leaves of a step; in evaluation the number of processes
  std::int64_t accumulation = 1;  ///< batches per leaf
  std::int64_t first = 0;
  std::int64_t last = 1;

  /// Throws `InputError` unless `first` and `last` are leaves of a step.
  void validate() const {
    const Demand demand{"shard"};
    demand(replicas >= 1 && replicas <= 4096, "replicas", "must be 1 to 4096");
    demand(accumulation >= 1, "accumulation", "must be at least 1");
    demand(first >= 0 && first < last && last <= replicas, "leaves",
           "must be one leaf or more, all below the number of replicas");
  }

  /// Tells whether the process computes the batch with this index in the epoch.
  [[nodiscard]] bool owns(std::int64_t batch_index) const noexcept {
    const std::int64_t leaf = batch_index / accumulation % replicas;
    return first <= leaf && leaf < last;
  }

  /// Returns the number of batches of the epoch per batch of this process, rounded up.
  [[nodiscard]] std::size_t stride() const noexcept {
    const std::int64_t owned = last - first;
    return static_cast<std::size_t>((replicas + owned - 1) / owned);
  }
};

/// The order of rows: `bucket` shuffles them and batches rows of similar length, `shuffle` batches
/// them as they are then, and `file` keeps the order of the file.
enum class Order { bucket, shuffle, file };

/// The names of the orders.
inline constexpr std::array<std::pair<std::string_view, Order>, 3> order_names{
    {{"bucket", Order::bucket}, {"shuffle", Order::shuffle}, {"file", Order::file}}};

/// Options of `make_plan`.
struct PlanOptions {
  std::size_t batch_size = 32;
  /// The limit on rows × padded width of a batch. If it is above 0 it replaces `batch_size`.
  std::size_t tokens_per_batch = 0;
  /// True if a row that exceeds the limit is a batch of its own, false if it is an error.
  bool long_rows_alone = false;
  /// A batch's width is rounded up to a multiple of this.
  std::size_t pad_to_multiple_of = 1;
  Order order = Order::bucket;
  /// The number of batches in bucket order whose rows are sorted by length together.
  std::size_t bucket_pool = 1000;
  /// The number of consecutive batches of similar length in bucket order, so that processes that
  /// share them have equal work. The last run of an epoch may be shorter.
  std::size_t batches_together = 1;

  void validate() const {
    const Demand demand{"batches"};
    demand(batch_size >= 1, "batch_size", "must be at least 1");
    demand(pad_to_multiple_of >= 1, "pad_to_multiple_of", "must be at least 1");
    demand(bucket_pool >= 1, "bucket_pool", "must be at least 1");
    demand(batches_together >= 1, "batches_together", "must be at least 1");
  }

  /// Returns the width of a batch whose longest row has this length.
  [[nodiscard]] std::size_t padded(std::size_t length) const {
    return (std::max<std::size_t>(length, 1) + pad_to_multiple_of - 1) / pad_to_multiple_of *
           pad_to_multiple_of;
  }
};

/// The rows of each batch of an epoch.
struct BatchPlan {
  std::vector<std::uint32_t> rows;  ///< every row once; the rows of a batch are neighbours
  /// [batches + 1], the index in `rows` at which each group of rows begins, and the end of the last
  /// group.
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> order;  ///< [batches], the index of each batch's group

  [[nodiscard]] std::size_t size() const { return order.size(); }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t batch) const {
    const std::size_t group = order[batch];
    return std::span{rows}.subspan(offsets[group], offsets[group + 1] - offsets[group]);
  }
};

namespace detail {

/// Sorts rows by length by counting sorts of 12 bits each. The sort is stable.
class LengthSorter {
 public:
  template <class Lengths>
  void sort(std::span<std::uint32_t> rows, const Lengths& lengths) {
    items_.resize(rows.size());
    other_.resize(rows.size());
    std::uint32_t longest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      items_[i] = {static_cast<std::uint32_t>(lengths[rows[i]]), rows[i]};
      longest = std::max(longest, items_[i].length);
    }
    for (unsigned shift = 0; shift < 32 && longest >> shift != 0; shift += 12) pass(shift);
    std::ranges::transform(items_, rows.begin(), &Item::row);
  }

 private:
  struct Item {
    std::uint32_t length;
    std::uint32_t row;
  };

  void pass(unsigned shift) {
    const auto digit = [shift](Item item) { return item.length >> shift & 0xFFF; };
    std::array<std::uint32_t, 4096> place{};
    for (const Item item : items_) ++place[digit(item)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), 0U);
    for (const Item item : items_) other_[place[digit(item)]++] = item;
    items_.swap(other_);
  }

  std::vector<Item> items_;
  std::vector<Item> other_;
};

/// Sorts rows within pools of `pool` consecutive rows. The last pool also takes the remaining rows.
template <class Lengths>
void sort_pools(std::span<std::uint32_t> rows, const Lengths& lengths, std::size_t pool) {
  LengthSorter sorter;
  while (!rows.empty()) {
    const std::size_t taken = rows.size() < 2 * pool ? rows.size() : pool;
    sorter.sort(rows.first(taken), lengths);
    rows = rows.subspan(taken);
  }
}

/// Returns the ends of batches that respect the limit on rows × padded width, for rows in this
/// order.
template <class Lengths>
std::vector<std::uint32_t> cut_by_tokens(std::span<const std::uint32_t> rows,
                                         const Lengths& lengths, const PlanOptions& options) {
  std::vector<std::uint32_t> offsets{0};
  std::size_t width = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto length = static_cast<std::size_t>(lengths[rows[i]]);
    const std::size_t own_width = options.padded(length);
    if (own_width > options.tokens_per_batch && !options.long_rows_alone) {
      throw InputError{"example " + std::to_string(rows[i]) + " has " + std::to_string(length) +
                           " ids, more than a batch may have",
                       {.object = "batches", .field = "tokens_per_batch"},
                       "a smaller max_length truncates it"};
    }
    const std::size_t count = i - offsets.back();
    width = std::max(width, own_width);
    if (count > 0 && (count + 1) * width > options.tokens_per_batch) {
      offsets.push_back(static_cast<std::uint32_t>(i));
      width = own_width;
    }
  }
  if (!rows.empty()) offsets.push_back(static_cast<std::uint32_t>(rows.size()));
  return offsets;
}

inline std::vector<std::uint32_t> cut_by_count(std::size_t rows, std::size_t batch_size) {
  std::vector<std::uint32_t> offsets{0};
  offsets.reserve(rows / batch_size + 2);
  for (std::size_t end = 0; end < rows;) {
    end += std::min(batch_size, rows - end);
    offsets.push_back(static_cast<std::uint32_t>(end));
  }
  return offsets;
}

/// Returns the number of rows of a pool.
template <class Lengths>
std::size_t pool_size(const Lengths& lengths, const PlanOptions& options) {
  const std::size_t count = lengths.size();
  std::size_t rows = options.batch_size;
  if (options.tokens_per_batch > 0) {
    std::size_t tokens = 1;
    for (std::size_t i = 0; i < count; ++i) tokens += static_cast<std::size_t>(lengths[i]);
    rows = std::max<std::size_t>(1, options.tokens_per_batch * count / tokens);
  }
  return options.bucket_pool > count / rows ? count : options.bucket_pool * rows;
}

inline std::vector<std::uint32_t> first_numbers(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

/// Returns the numbers below `count` with runs of `together` consecutive numbers shuffled. The
/// remaining numbers come last.
inline std::vector<std::uint32_t> shuffled_runs(std::size_t count, std::size_t together,
                                                random::Stream& stream) {
  auto runs = first_numbers(count / together);
  random::shuffle(runs, stream);
  std::vector<std::uint32_t> numbers;
  numbers.reserve(count);
  for (const std::uint32_t run : runs) {
    for (std::size_t i = 0; i < together; ++i) {
      numbers.push_back(static_cast<std::uint32_t>(run * together + i));
    }
  }
  while (numbers.size() < count) numbers.push_back(static_cast<std::uint32_t>(numbers.size()));
  return numbers;
}

}  // namespace detail

/// Returns the batches of an epoch over rows of these lengths, which have `size()` and can be
/// indexed. The result depends only on the arguments and is equal on every machine. In bucket order
/// rows are shuffled, sorted by length within pools and cut into batches, and the batches are
/// shuffled. Throws `InputError` if one row exceeds `tokens_per_batch`, unless such rows may be
/// alone.
template <class Lengths>
BatchPlan make_plan(const Lengths& lengths, const PlanOptions& options, std::uint64_t seed,
                    std::uint64_t epoch) {
  options.validate();
  const std::size_t count = lengths.size();
  if (count >= std::numeric_limits<std::uint32_t>::max()) throw InputError{"too many examples"};
  BatchPlan plan{.rows = detail::first_numbers(count), .offsets = {}, .order = {}};
  if (options.order != Order::file && count > 0) {
    random::Stream stream{seed, random::Purpose::order, epoch, std::uint64_t{0}};
    random::shuffle(plan.rows, stream);
    if (options.order == Order::bucket) {
      detail::sort_pools(plan.rows, lengths, detail::pool_size(lengths, options));
    }
  }
  plan.offsets = options.tokens_per_batch > 0 ? detail::cut_by_tokens(plan.rows, lengths, options)
                                              : detail::cut_by_count(count, options.batch_size);
  const std::size_t batches = plan.offsets.size() - 1;
  if (options.order != Order::file) {
    random::Stream stream{seed, random::Purpose::order, epoch, std::uint64_t{1}};
    plan.order = detail::shuffled_runs(batches, options.batches_together, stream);
  } else {
    plan.order = detail::first_numbers(batches);
  }
  return plan;
}

/// Returns the plan that takes rows in this order, in batches of at most `batch_size` rows. Throws
/// `InputError` if that is 0.
[[nodiscard]] inline BatchPlan plan_in_order(std::vector<std::uint32_t> rows,
                                             std::size_t batch_size) {
  if (batch_size == 0) throw InputError{"must be at least 1", {.object = "batch_size"}};
  BatchPlan plan{.rows = std::move(rows), .offsets = {}, .order = {}};
  plan.offsets = detail::cut_by_count(plan.rows.size(), batch_size);
  plan.order = detail::first_numbers(plan.offsets.size() - 1);
  return plan;
}

}  // namespace seqtrain::data
