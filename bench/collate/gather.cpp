// Measures the limit for rows in random order: ids of 4 bytes copied row by row, without padding or
// token types.
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

#include "rows.hpp"

namespace seqtrain::bench {
namespace {

void gather(benchmark::State& state) {
  const Epoch epoch{static_cast<std::size_t>(state.range(0))};
  std::vector<std::int32_t> ids(epoch.set.tokens());
  for (std::size_t row = 0; row < epoch.set.size(); ++row) {
    epoch.set.copy_row(row, ids.data() + epoch.set.begin_of(row));
  }
  std::vector<std::int32_t> out(1 << 20);
  for (auto _ : state) {
    for (std::size_t i = 0; i < epoch.plan.size(); ++i) {
      std::size_t end = 0;
      for (const std::uint32_t row : epoch.plan[i]) {
        const std::size_t length = epoch.set.length(row);
        std::memcpy(&out[end], &ids[epoch.set.begin_of(row)], length * sizeof(ids[0]));
        end += length;
      }
      benchmark::DoNotOptimize(out.data());
    }
  }
  const auto bytes = static_cast<std::int64_t>(epoch.tokens * sizeof(ids[0]));
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(epoch.set.size()));
}
BENCHMARK(gather)->Arg(16)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace seqtrain::bench
