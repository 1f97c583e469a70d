#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/hold_out.hpp>

namespace seqtrain::data {

namespace detail {

/// Returns the numbers below `count`. Throws `InputError` if so many cannot be split.
inline std::vector<std::size_t> rows_in_order(std::size_t count) {
  // Up to this number torch permutes with 32-bit random numbers.
  constexpr std::size_t most = 0xFFFF'FFFFU / 20;
  if (count < 2 || count > most) {
    throw InputError{
        std::to_string(count) + " rows cannot be split; there must be 2 to " + std::to_string(most),
        {.object = "split"}};
  }
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

/// Returns `numpy.random.RandomState(seed).permutation(count)`. Random numbers are masked to the
/// needed bits, and those outside the range are drawn again.
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

/// Returns `torch.randperm(count)` on the CPU after `torch.manual_seed(seed)`.
inline std::vector<std::size_t> torch_permutation(std::size_t count, std::uint32_t seed) {
  std::mt19937 random{seed};
  auto rows = rows_in_order(count);
  for (std::size_t i = 0; i + 1 < count; ++i) std::swap(rows[i], rows[i + random() % (count - i)]);
  return rows;
}

/// Holds the first `held_out` rows out.
inline RandomSplit cut_off(const std::vector<std::size_t>& rows, std::size_t held_out) {
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(held_out);
  return {.train = {middle, rows.end()}, .held_out = {rows.begin(), middle}};
}

inline void check_share(double share) {
  Demand{"split"}(share > 0 && share < 1, "share", "must be between 0 and 1");
}

}  // namespace detail

/// Returns scikit-learn's `train_test_split(rows, test_size=share, random_state=seed)`, order
/// included. Throws `InputError` for fewer than two rows, or if `share` is not between 0 and 1.
[[nodiscard]] inline RandomSplit split_like_sklearn(std::size_t rows, double share,
                                                    std::uint32_t seed) {
  detail::check_share(share);
  const auto held_out = static_cast<std::size_t>(std::ceil(share * static_cast<double>(rows)));
  return detail::cut_off(detail::numpy_permutation(rows, seed), held_out);
}

/// Returns fastai's `RandomSplitter(valid_pct=share, seed=seed)`, order included. Throws
/// `InputError` as `split_like_sklearn` does.
[[nodiscard]] inline RandomSplit split_like_fastai(std::size_t rows, double share,
                                                   std::uint32_t seed) {
  detail::check_share(share);
  const auto held_out = static_cast<std::size_t>(share * static_cast<double>(rows));
  return detail::cut_off(detail::torch_permutation(rows, seed), held_out);
}

}  // namespace seqtrain::data
