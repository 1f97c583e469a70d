// Encodes the records from Parquet, if there is such a file and the program is built with pyarrow.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#ifdef WITH_PARQUET
#include <seqtrain/parquet/split.hpp>
#endif

#include <seqtrain/data/encode_file.hpp>

#include "input.hpp"

namespace seqtrain::bench {

#ifdef WITH_PARQUET
namespace {

data::EncodedSet encoded(const std::filesystem::path& file, const Input& input,
                         std::size_t workers) {
  return data::encode_file(
             file, input.tokenizer, input.labels,
             {.read = {.open = parquet::open}, .encode = input.options, .workers = workers})
      .set;
}

bool equal(const data::EncodedSet& a, const data::EncodedSet& b) {
  if (a.size() != b.size() || a.tokens() != b.tokens()) return false;
  std::vector<text::Id> ids[2];
  for (std::size_t row = 0; row < a.size(); ++row) {
    if (a.length(row) != b.length(row) || a.label(row) != b.label(row)) return false;
    ids[0].resize(a.length(row));
    ids[1].resize(b.length(row));
    a.copy_row(row, ids[0].data());
    b.copy_row(row, ids[1].data());
    if (ids[0] != ids[1]) return false;
  }
  return true;
}

void encode(benchmark::State& state, const Input& input) {
  const auto workers = static_cast<std::size_t>(state.range(0));
  const auto lines = encoded(input.file, input, workers);
  if (!equal(encoded(input.parquet, input, workers), lines)) state.SkipWithError("ids differ");
  for (auto _ : state) benchmark::DoNotOptimize(encoded(input.parquet, input, workers));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(lines.size()));
}

}  // namespace

void add_parquet(const Input& input) {
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  benchmark::RegisterBenchmark("encode_parquet", encode, std::cref(input))
      ->ArgName("workers")
      ->DenseRange(1, cores, std::max(1U, cores - 1))
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}
#else
void add_parquet(const Input&) {
  throw InputError{"needs a build with pyarrow", {.object = "--parquet"}};
}
#endif

}  // namespace seqtrain::bench
