// Measures the limit for any collation: complete matrices are copied to the same place.
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

#include "rows.hpp"

namespace seqtrain::bench {
namespace {

void memcpy(benchmark::State& state) {
  const Epoch epoch{static_cast<std::size_t>(state.range(0))};
  std::vector<data::Batch> made(epoch.plan.size());
  std::size_t largest = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    data::collate(epoch.set, epoch.plan[i], epoch.options, made[i]);
    largest = std::max(largest, made[i].input_ids.size());
  }
  std::vector<std::int32_t> ids(largest);
  std::vector<std::int32_t> types(largest);
  for (auto _ : state) {
    for (const data::Batch& batch : made) {
      std::memcpy(ids.data(), batch.input_ids.data(), Epoch::bytes_of(batch) / 2);
      std::memcpy(types.data(), batch.token_type_ids.data(), Epoch::bytes_of(batch) / 2);
      benchmark::DoNotOptimize(ids.data());
      benchmark::DoNotOptimize(types.data());
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(epoch.bytes));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(epoch.set.size()));
}
BENCHMARK(memcpy)->Arg(16)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace seqtrain::bench
