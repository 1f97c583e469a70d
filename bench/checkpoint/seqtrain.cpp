#include <filesystem>

#include <benchmark/benchmark.h>

#include <seqtrain/checkpoint/checkpoint.hpp>
#include <seqtrain/checkpoint/checkpoint_folder.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/checkpointer.hpp>

#include "training.hpp"

namespace seqtrain::bench {
namespace {

/// Measures the copy, during which training waits.
void copy(benchmark::State& state) {
  const Training training;
  checkpoint::Snapshot snapshot;
  for (auto _ : state) training.copy_to(snapshot);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(training.bytes()));
}
BENCHMARK(copy)->Name("checkpoint/copy")->Unit(benchmark::kMillisecond)->UseRealTime();

/// Measures the work of the other thread: writing, checksums, forcing all of it to the disk.
void write(benchmark::State& state) {
  const Training training;
  checkpoint::Snapshot snapshot;
  training.copy_to(snapshot);
  sink::Directory directory{empty_directory()};
  const checkpoint::CheckpointFolder folder{directory, "run"};
  const checkpoint::RunDescription run{.id = "run"};
  auto& step = snapshot.state.position.step;
  const auto write_next = [&] {
    snapshot.view([&](const train::FitView& fit) {
      checkpoint::write_checkpoint(directory, folder.at(step), fit, run);
    });
  };
  write_next();
  // Throws unless the checkpoint can be read.
  (void)checkpoint::Checkpoint{directory.path_of(folder.at(step))};
  for (auto _ : state) {
    ++step;
    write_next();
    folder.prune(step, 1);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(training.bytes()));
  std::filesystem::remove_all(directory.root());
}
BENCHMARK(write)->Name("checkpoint/write")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace seqtrain::bench
