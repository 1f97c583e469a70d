// Measures the usual way: a vector of 64-bit ids for each example, padded in a loop.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "rows.hpp"

namespace seqtrain::bench {
namespace {

using Row = std::vector<std::int64_t>;

struct Matrices {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> mask;
  std::vector<std::int64_t> types;
};

Matrices pad(const std::vector<Row>& rows, const data::EncodedSet& set,
             std::span<const std::uint32_t> chosen) {
  std::size_t width = 0;
  for (const auto row : chosen) width = std::max(width, rows[row].size());
  Matrices out;
  for (const auto row : chosen) {
    for (std::size_t column = 0; column < width; ++column) {
      const bool there = column < rows[row].size();
      out.ids.push_back(there ? rows[row][column] : set.pad_id());
      out.mask.push_back(there ? 1 : 0);
      out.types.push_back(there && column >= set.first_segment(row) ? 1 : 0);
    }
  }
  return out;
}

bool equal(const Matrices& ours, const data::Batch& batch) {
  return std::ranges::equal(ours.ids, batch.input_ids) &&
         std::ranges::equal(ours.types, batch.token_type_ids);
}

void vectors(benchmark::State& state) {
  const Epoch epoch{static_cast<std::size_t>(state.range(0))};
  std::vector<Row> rows(epoch.set.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<std::int32_t> ids(epoch.set.length(row));
    epoch.set.copy_row(row, ids.data());
    rows[row].assign(ids.begin(), ids.end());
  }
  data::Batch batch;
  data::collate(epoch.set, epoch.plan[0], epoch.options, batch);
  if (!equal(pad(rows, epoch.set, epoch.plan[0]), batch)) state.SkipWithError("batches differ");
  for (auto _ : state) {
    for (std::size_t i = 0; i < epoch.plan.size(); ++i) {
      benchmark::DoNotOptimize(pad(rows, epoch.set, epoch.plan[i]));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(epoch.set.size()));
}
BENCHMARK(vectors)->Arg(16)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace seqtrain::bench
