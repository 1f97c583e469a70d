#include <filesystem>

#include <benchmark/benchmark.h>

#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/checkpoint.hpp>
#include <seqtrain/train/checkpoint_folder.hpp>

#include "training.hpp"

namespace seqtrain::bench {
namespace {

/// Measures the copy, during which training waits.
void copy(benchmark::State& state) {
  const Training training;
  train::Snapshot snapshot;
  for (auto _ : state) training.copy_to(snapshot);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(training.bytes()));
}
BENCHMARK(copy)->Name("checkpoint/copy")->Unit(benchmark::kMillisecond)->UseRealTime();

/// Measures the work of the other thread: writing, checksums, forcing all of it to the disk.
void write(benchmark::State& state) {
  const Training training;
  train::Snapshot snapshot;
  training.copy_to(snapshot);
  sink::Directory directory{empty_directory()};
  const train::CheckpointFolder folder{directory, "run"};
  const train::RunDescription run{.id = "run"};
  auto& step = snapshot.state.position.step;
  train::write_checkpoint(directory, folder.at(step), snapshot, run);
  // Throws unless the checkpoint can be read.
  (void)train::Checkpoint{directory.path_of(folder.at(step))};
  for (auto _ : state) {
    ++step;
    train::write_checkpoint(directory, folder.at(step), snapshot, run);
    folder.prune(step, 1);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(training.bytes()));
  std::filesystem::remove_all(directory.root());
}
BENCHMARK(write)->Name("checkpoint/write")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace seqtrain::bench
