#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace seqtrain::bench {

constexpr std::size_t rows = 10'000'000;
constexpr std::size_t batch_size = 32;
constexpr std::size_t pool = 1'000 * batch_size;

/// Collects properties of a plan batch by batch.
struct PlanCheck {
  explicit PlanCheck(const std::vector<std::uint32_t>& row_lengths)
      : lengths{row_lengths}, seen(row_lengths.size()) {}

  void add(std::span<const std::uint32_t> batch) {
    std::size_t width = 0;
    for (const std::uint32_t row : batch) {
      width = std::max<std::size_t>(width, lengths[row]);
      tokens += lengths[row];
      twice = twice || seen[row];
      seen[row] = true;
      ++count;
    }
    cells += batch.size() * width;
  }

  [[nodiscard]] bool each_row_once() const { return !twice && count == lengths.size(); }
  [[nodiscard]] double padding_percent() const {
    return 100 - 100 * static_cast<double>(tokens) / static_cast<double>(cells);
  }

  const std::vector<std::uint32_t>& lengths;
  std::vector<bool> seen;
  std::size_t count = 0;
  std::size_t tokens = 0;
  std::size_t cells = 0;
  bool twice = false;
};

}  // namespace seqtrain::bench
