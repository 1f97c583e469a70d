// Encodes the file as seqtrain does, on one core and on all cores, into memory and into a file.
// Also reads the file without a tokenizer.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <thread>

#include <benchmark/benchmark.h>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/reader.hpp>

#include "input.hpp"

namespace seqtrain::bench {
namespace {

void count(benchmark::State& state, const Input& input, std::size_t examples) {
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(input.file));
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(examples));
}

void encode(benchmark::State& state, const Input& input, const std::filesystem::path& file) {
  const data::EncodeFileOptions options{
      .encode = input.options, .workers = static_cast<std::size_t>(state.range(0)), .file = file};
  std::size_t examples = 0;
  for (auto _ : state) {
    const auto encoded = data::encode_file(input.file, input.tokenizer, input.labels, options);
    examples = encoded.set.size();
  }
  std::filesystem::remove(file);
  count(state, input, examples);
}

void read(benchmark::State& state, const Input& input) {
  std::size_t examples = 0;
  for (auto _ : state) {
    const MappedFile file{input.file};
    const data::Reader reader{{.text = file.text(), .name = input.file.string()}};
    examples = 0;
    reader.read_all([&](const data::Example& example) {
      benchmark::DoNotOptimize(example.text.data());
      ++examples;
    });
  }
  count(state, input, examples);
}

}  // namespace

void add_seqtrain(const Input& input) {
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  const auto into_file = std::filesystem::temp_directory_path() / "bench_encode_file.encoded";
  const auto add = [&](const char* name, const std::filesystem::path& file) {
    benchmark::RegisterBenchmark(name, encode, std::cref(input), file)
        ->ArgName("workers")
        ->DenseRange(1, cores, std::max(1U, cores - 1))
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime()
        ->UseRealTime();
  };
  add("encode_file", {});
  add("encode_into_file", into_file);
  benchmark::RegisterBenchmark("read_only", read, std::cref(input))->Unit(benchmark::kMillisecond);
}

}  // namespace seqtrain::bench
