// Measures the encoding of a file of JSON lines into ids in memory.
//
// encode_file [--file FILE.jsonl] [--parquet FILE.parquet] [--tokenizer DIR] [--max-length N]
#include <benchmark/benchmark.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>

#include "input.hpp"
#include "support/arguments.hpp"

int main(int argc, char** argv) {
  using namespace seqtrain;
  return cli::run([&] {
    const auto take = [&](const char* name, const char* otherwise) {
      return bench::take_argument(argc, argv, name, otherwise);
    };
    const std::filesystem::path file = take("file", "examples/data/nli/train.jsonl");
    const bench::Input input{
        .file = file,
        .tokenizer = text::load_tokenizer(take("tokenizer", "checkpoints/all-MiniLM-L6-v2")),
        .labels = data::choose_labels({}, {}, file, {}),
        .options = {.max_length = std::stoul(take("max-length", "128"))},
        .parquet = take("parquet", "")};
    bench::add_seqtrain(input);
    bench::add_usual(input);
    if (!input.parquet.empty()) bench::add_parquet(input);
    benchmark::Initialize(&argc, argv);
    if (!benchmark::ReportUnrecognizedArguments(argc, argv)) benchmark::RunSpecifiedBenchmarks();
  });
}
