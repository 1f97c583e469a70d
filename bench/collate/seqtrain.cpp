// Measures the loader's function that fills batches.
#include <benchmark/benchmark.h>

#include "rows.hpp"

namespace seqtrain::bench {
namespace {

void collate(benchmark::State& state) {
  const Epoch epoch{static_cast<std::size_t>(state.range(0))};
  data::Batch batch;
  for (auto _ : state) {
    for (std::size_t i = 0; i < epoch.plan.size(); ++i) {
      data::collate(epoch.set, epoch.plan[i], epoch.options, batch);
      benchmark::DoNotOptimize(batch.input_ids.data());
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(epoch.bytes));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(epoch.set.size()));
}
BENCHMARK(collate)->Arg(16)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace seqtrain::bench
