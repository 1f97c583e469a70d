// Measures texts that are hard for a tokenizer, each of 1 MiB and of 2 MiB. The time must grow
// linearly with the text.
//
// worst_case [--tokenizer DIR]
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/arguments.hpp"

namespace seqtrain::bench {
namespace {

struct HardText {
  const char* name;
  std::function<std::string(std::size_t i)> piece;
};

const std::array hard_texts{
    HardText{"one_letter", [](std::size_t) { return "a"; }},
    HardText{"two_letters", [](std::size_t i) { return i % 2 == 0 ? "a" : "b"; }},
    HardText{"spaces", [](std::size_t) { return " "; }},
    HardText{"combining_marks", [](std::size_t i) { return i == 0 ? "e" : "\u0301"; }},
    HardText{"four_byte_characters", [](std::size_t) { return "\U0001F600"; }},
    HardText{"distinct_words", [](std::size_t i) { return std::to_string(i * 7919) + "x "; }},
};

std::string make(const HardText& hard, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) text += hard.piece(i);
  return text;
}

void encode(benchmark::State& state, const text::AnyTokenizer& tokenizer, const HardText& hard) {
  const std::string text = make(hard, static_cast<std::size_t>(state.range(0)) << 20);
  tokenizer.visit([&](const auto& family) {
    std::vector<text::Id> ids;
    for (auto _ : state) {
      const auto scratch =
          std::make_unique<typename std::remove_cvref_t<decltype(family)>::Scratch>();
      ids.clear();
      family.encode(text, {}, {}, *scratch, ids);
      benchmark::DoNotOptimize(ids.data());
    }
  });
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

}  // namespace
}  // namespace seqtrain::bench

int main(int argc, char** argv) {
  using namespace seqtrain;
  return cli::run([&] {
    const auto tokenizer = text::load_tokenizer(
        bench::take_argument(argc, argv, "tokenizer", "checkpoints/all-MiniLM-L6-v2"));
    for (const bench::HardText& hard : bench::hard_texts) {
      benchmark::RegisterBenchmark(hard.name, bench::encode, std::cref(tokenizer), std::cref(hard))
          ->ArgName("MiB")
          ->Arg(1)
          ->Arg(2)
          ->Unit(benchmark::kMillisecond);
    }
    benchmark::Initialize(&argc, argv);
    if (!benchmark::ReportUnrecognizedArguments(argc, argv)) benchmark::RunSpecifiedBenchmarks();
  });
}
