// Makes the plan of an epoch as the loader does.
#include <benchmark/benchmark.h>

#include <seqtrain/data/plan.hpp>

#include "check.hpp"
#include "support/lengths.hpp"

namespace seqtrain::bench {
namespace {

void report(benchmark::State& state, const data::BatchPlan& plan,
            const std::vector<std::uint32_t>& lengths) {
  PlanCheck check{lengths};
  for (std::size_t i = 0; i < plan.size(); ++i) check.add(plan[i]);
  if (!check.each_row_once()) state.SkipWithError("a row is missing or there twice");
  const std::size_t words = plan.rows.size() + plan.offsets.size() + plan.order.size();
  state.counters["padding_percent"] = check.padding_percent();
  state.counters["bytes_per_row"] =
      static_cast<double>(words * sizeof(std::uint32_t)) / static_cast<double>(lengths.size());
}

void make(benchmark::State& state, const data::PlanOptions& options) {
  const auto lengths = pair_lengths(rows);
  report(state, data::make_plan(lengths, options, 1, 0), lengths);
  std::uint64_t epoch = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(data::make_plan(lengths, options, 1, epoch++));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}

const auto unit = benchmark::kMillisecond;
BENCHMARK_CAPTURE(make, batch_size, {.batch_size = batch_size})->Unit(unit);
BENCHMARK_CAPTURE(make, tokens_per_batch, {.tokens_per_batch = 2'048})->Unit(unit);

}  // namespace
}  // namespace seqtrain::bench
