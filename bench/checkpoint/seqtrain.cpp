#include <filesystem>

#include <benchmark/benchmark.h>

#include <seqtrain/train/checkpoint_directory.hpp>

#include "training.hpp"

namespace seqtrain::bench {
namespace {

/// What training waits for.
void copy(benchmark::State& state) {
  const Training training;
  train::Snapshot snapshot;
  for (auto _ : state) training.copy_to(snapshot);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(training.bytes()));
}
BENCHMARK(copy)->Name("checkpoint/copy")->Unit(benchmark::kMillisecond)->UseRealTime();

/// What another thread does meanwhile: writing, checksums, forcing it all to the disk.
void write(benchmark::State& state) {
  const Training training;
  train::Snapshot snapshot;
  training.copy_to(snapshot);
  const train::CheckpointDirectory directory{empty_directory()};
  directory.write(snapshot, {});
  if (!directory.newest({})) state.SkipWithError("what was written does not read back");
  for (auto _ : state) {
    ++snapshot.state.position.step;
    directory.write(snapshot, {});
    directory.prune(snapshot.state.position.step, 1);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(training.bytes()));
  std::filesystem::remove_all(directory.path());
}
BENCHMARK(write)->Name("checkpoint/write")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace seqtrain::bench
