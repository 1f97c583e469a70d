// Encodes the file in the usual way with the same parser and tokenizer: it reads a line at a time
// into strings and makes a vector of ids for each example, on one core.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "input.hpp"

namespace seqtrain::bench {
namespace {

struct Record {
  std::string premise;
  std::string hypothesis;
};

std::vector<Record> read(const std::filesystem::path& file) {
  std::vector<Record> records;
  simdjson::dom::parser parser;
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    const simdjson::dom::element record = parser.parse(line);
    if (std::string_view{record["gold_label"]} == "-") continue;
    records.push_back({std::string{std::string_view{record["sentence1"]}},
                       std::string{std::string_view{record["sentence2"]}}});
  }
  return records;
}

std::vector<std::vector<text::Id>> usual(const Input& input) {
  const auto records = read(input.file);
  return input.tokenizer.visit([&](const auto& tokenizer) {
    typename std::remove_cvref_t<decltype(tokenizer)>::Scratch scratch;
    std::vector<std::vector<text::Id>> rows;
    for (const Record& record : records) {
      tokenizer.encode(record.premise, record.hypothesis, input.options, scratch,
                       rows.emplace_back());
    }
    return rows;
  });
}

bool equal(const std::vector<std::vector<text::Id>>& rows, const data::EncodedSet& set) {
  if (rows.size() != set.size()) return false;
  std::vector<text::Id> row;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    row.resize(set.length(i));
    set.copy_row(i, row.data());
    if (row != rows[i]) return false;
  }
  return true;
}

void encode(benchmark::State& state, const Input& input) {
  const auto ours =
      data::encode_file(input.file, input.tokenizer, input.labels, {.encode = input.options});
  if (!equal(usual(input), ours.set)) state.SkipWithError("ids differ");
  for (auto _ : state) benchmark::DoNotOptimize(usual(input));
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(input.file));
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ours.set.size()));
}

}  // namespace

void add_usual(const Input& input) {
  benchmark::RegisterBenchmark("usual", encode, std::cref(input))
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

}  // namespace seqtrain::bench
