#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>

namespace seqtrain::data {

/// Rows, by their numbers from 0, in two parts.
struct RandomSplit {
  std::vector<std::size_t> train;
  std::vector<std::size_t> held_out;
};

namespace detail {

inline std::vector<std::size_t> rows_in_order(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

/// Returns `numpy.random.RandomState(seed).permutation(count)`: numbers above the wanted range,
/// which is cut to bits by a mask, are drawn again.
inline std::vector<std::size_t> numpy_permutation(std::size_t count, std::uint32_t seed) {
  std::mt19937 random{seed};
  auto rows = rows_in_order(count);
  for (std::size_t last = count; last-- > 1;) {
    std::size_t mask = last;
    for (const unsigned shift : {1U, 2U, 4U, 8U, 16U}) mask |= mask >> shift;
    std::size_t drawn = random() & mask;
    while (drawn > last) drawn = random() & mask;
    std::swap(rows[last], rows[drawn]);
  }
  return rows;
}

/// Returns `torch.randperm(count)` on a processor after `torch.manual_seed(seed)`.
inline std::vector<std::size_t> torch_permutation(std::size_t count, std::uint32_t seed) {
  std::mt19937 random{seed};
  auto rows = rows_in_order(count);
  for (std::size_t i = 0; i + 1 < count; ++i) std::swap(rows[i], rows[i + random() % (count - i)]);
  return rows;
}

inline void check_split(std::size_t count, double share) {
  // As many rows as torch permutes by numbers of 32 bits.
  constexpr std::size_t most = 0xFFFF'FFFFU / 20;
  if (!(share > 0 && share < 1)) {
    throw InputError{"must be above 0 and below 1", {.object = "split", .field = "share"}};
  }
  if (count >= 2 && count <= most) return;
  throw InputError{
      std::to_string(count) + " rows cannot be split; there must be 2 to " + std::to_string(most),
      {.object = "split"}};
}

inline RandomSplit cut_off(std::span<const std::size_t> rows, std::size_t held_out) {
  const auto first = rows.first(held_out), rest = rows.subspan(held_out);
  return {.train = {rest.begin(), rest.end()}, .held_out = {first.begin(), first.end()}};
}

}  // namespace detail

/// Splits rows as scikit-learn's `train_test_split(rows, test_size=share, random_state=seed)` does:
/// the same rows in the same order. Throws `InputError` on fewer than two rows.
[[nodiscard]] inline RandomSplit split_like_sklearn(std::size_t rows, double share,
                                                    std::uint32_t seed) {
  detail::check_split(rows, share);
  const auto held_out = static_cast<std::size_t>(std::ceil(share * static_cast<double>(rows)));
  return detail::cut_off(detail::numpy_permutation(rows, seed), held_out);
}

/// Splits rows as fastai's `RandomSplitter(valid_pct=share, seed=seed)` does: the same rows in the
/// same order. Throws `InputError` on fewer than two rows.
[[nodiscard]] inline RandomSplit split_like_fastai(std::size_t rows, double share,
                                                   std::uint32_t seed) {
  detail::check_split(rows, share);
  const auto held_out = static_cast<std::size_t>(share * static_cast<double>(rows));
  return detail::cut_off(detail::torch_permutation(rows, seed), held_out);
}

}  // namespace seqtrain::data
