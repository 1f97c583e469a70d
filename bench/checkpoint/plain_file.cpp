#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <seqtrain/core/atomic_file.hpp>

#include "training.hpp"

namespace seqtrain::bench {
namespace {

/// Writes the same number of bytes into one file and forces it to the disk. No writer can be
/// faster.
void plain_file(benchmark::State& state) {
  const std::vector<std::byte> bytes(Training{}.bytes(), std::byte{1});
  const auto directory = empty_directory();
  for (auto _ : state) {
    AtomicFile file{directory / "file"};
    file.write(bytes);
    file.commit();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
  std::filesystem::remove_all(directory);
}
BENCHMARK(plain_file)->Name("plain_file/write")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace seqtrain::bench
