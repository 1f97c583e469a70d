// Measures the parts of bench/tokenize in cycles of the nominal clock per byte and prints the
// fastest pass. The first two cases are parts of the third, and all are parts of the last.
//
// stages [--tokenizer DIR] [--texts FILE.jsonl]
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/arguments.hpp"
#include "tokenize/texts.hpp"

namespace seqtrain::bench {
namespace {

/// Adds a case that calls `work` with each text. The pass with the fewest cycles counts.
template <class Work>
void add(const char* name, const Texts& texts, Work work) {
  benchmark::RegisterBenchmark(name, [&texts, work](benchmark::State& state) mutable {
    std::chrono::duration<double> shortest = std::chrono::hours{1};
    for (auto _ : state) {
      const auto begin = std::chrono::steady_clock::now();
      for (const std::string_view text : texts.singles) work(text);
      shortest = std::min<std::chrono::duration<double>>(shortest,
                                                         std::chrono::steady_clock::now() - begin);
    }
    state.counters["cycles_per_byte"] = shortest.count() *
                                        benchmark::CPUInfo::Get().cycles_per_second /
                                        static_cast<double>(texts.bytes);
  });
}

template <class Words, class Scan, class WordEnd>
void split(std::string_view text, Words& words, Scan scan, WordEnd word_end) {
  while (!text.empty()) {
    const std::size_t done = scan(words, text);
    text.remove_prefix(done > 0 ? done : word_end(text));
    benchmark::DoNotOptimize(words.size());
  }
}

void add_split(const text::BertTokenizer&, const Texts& texts) {
  add("split", texts, [words = text::AsciiWords{}](std::string_view text) mutable {
    split(
        text, words, [](auto& all, auto rest) { return all.scan(rest, true); },
        [](auto rest) { return text::AsciiWords::word_end(rest); });
  });
}

void add_split(const text::RobertaTokenizer&, const Texts& texts) {
  add("split", texts, [words = text::ByteLevelWords{}](std::string_view text) mutable {
    split(
        text, words, [](auto& all, auto rest) { return all.scan(rest); },
        [](auto rest) { return text::ByteLevelSplitter::word_end(rest, 0); });
  });
}

void add_split(const text::NormalizedByteLevelTokenizer&, const Texts& texts) {
  add("split", texts, [words = text::ByteLevelWords{}](std::string_view text) mutable {
    split(
        text, words, [](auto& all, auto rest) { return all.scan(rest); },
        [](auto rest) { return text::ByteLevelSplitter::word_end(rest, 0); });
  });
}

void add_split(const text::AssembledTokenizer&, const Texts& texts) {
  add("split", texts, [](std::string_view text) {
    text::SpacedWords words{text};
    while (words.next_batch()) benchmark::DoNotOptimize(words.size());
  });
}

void add_split(const text::WordTokenizer&, const Texts& texts) {
  add("split", texts, [](std::string_view text) {
    text::WordSplitter{}.for_each_word(
        text, [](std::string_view word) { benchmark::DoNotOptimize(word.data()); });
  });
}

void add_split(const text::EsmTokenizer& tokenizer, const Texts& texts) {
  add("split", texts, [&splitter = tokenizer.pipeline().splitter()](std::string_view text) {
    splitter.for_each_word(text,
                           [](std::string_view word) { benchmark::DoNotOptimize(word.data()); });
  });
}

template <class T>
void add_cases(const T& tokenizer, const Texts& texts) {
  add("check_utf8", texts,
      [](std::string_view text) { benchmark::DoNotOptimize(text::is_valid_utf8(text)); });
  add_split(tokenizer, texts);
  add("split_and_look_up", texts,
      [&, scratch = typename T::Scratch{}, ids = std::vector<text::Id>{}](auto text) mutable {
        ids.clear();
        tokenizer.pipeline().encode(text, std::numeric_limits<std::size_t>::max(), scratch, ids);
        benchmark::DoNotOptimize(ids.data());
      });
  add("encode", texts,
      [&, scratch = typename T::Scratch{}, ids = std::vector<text::Id>{}](auto text) mutable {
        ids.clear();
        tokenizer.encode(text, {}, {.add_special_tokens = false}, scratch, ids);
        benchmark::DoNotOptimize(ids.data());
      });
}

}  // namespace
}  // namespace seqtrain::bench

int main(int argc, char** argv) {
  using namespace seqtrain;
  return cli::run([&] {
    const auto take = [&](const char* name, const char* otherwise) {
      return bench::take_argument(argc, argv, name, otherwise);
    };
    const auto tokenizer = text::load_tokenizer(take("tokenizer", "checkpoints/all-MiniLM-L6-v2"));
    const auto texts = bench::Texts::read(take("texts", "examples/data/nli/train.jsonl"));
    tokenizer.visit([&](const auto& family) { bench::add_cases(family, texts); });
    benchmark::Initialize(&argc, argv);
    if (!benchmark::ReportUnrecognizedArguments(argc, argv)) benchmark::RunSpecifiedBenchmarks();
  });
}
