// Makes the same kind of plan in the usual way: by the standard library's generator, shuffle and
// sort, with a vector for each batch.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "check.hpp"
#include "support/lengths.hpp"

namespace seqtrain::bench {
namespace {

using Batches = std::vector<std::vector<std::uint32_t>>;

Batches usual_plan(const std::vector<std::uint32_t>& lengths, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::vector<std::uint32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  Batches batches;
  for (std::size_t begin = 0; begin < order.size(); begin += pool) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = std::min(pool, order.size() - begin);
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    std::sort(first, last, [&](auto a, auto b) { return lengths[a] < lengths[b]; });
    for (std::size_t i = 0; i < count; i += batch_size) {
      const auto end = static_cast<std::ptrdiff_t>(std::min(i + batch_size, count));
      batches.emplace_back(first + static_cast<std::ptrdiff_t>(i), first + end);
    }
  }
  std::shuffle(batches.begin(), batches.end(), random);
  return batches;
}

void comparison_sort(benchmark::State& state) {
  const auto lengths = pair_lengths(rows);
  PlanCheck check{lengths};
  for (const auto& batch : usual_plan(lengths, 0)) check.add(batch);
  if (!check.each_row_once()) state.SkipWithError("a row is missing or there twice");
  state.counters["padding_percent"] = check.padding_percent();
  std::uint64_t epoch = 0;
  for (auto _ : state) benchmark::DoNotOptimize(usual_plan(lengths, epoch++));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}
BENCHMARK(comparison_sort)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace seqtrain::bench
