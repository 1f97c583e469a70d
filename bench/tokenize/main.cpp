// Measures the encoding of text on one core.
//
//     tokenize [--tokenizer DIR] [--texts FILE.jsonl] [--max-length N]
//
// encode/warm        single texts without special tokens, with a filled cache
// encode/cold        single texts without special tokens, with an empty cache
// encode_pairs/warm  neighbouring texts as pairs into an encoded set: truncation, special tokens,
//                    types
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/arguments.hpp"
#include "texts.hpp"

namespace seqtrain::bench {
namespace {

constexpr text::EncodeOptions bare{.add_special_tokens = false};

void count(benchmark::State& state, std::size_t bytes, std::size_t items) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items));
}

template <text::Tokenizer T>
void encode_all(const T& tokenizer, const Texts& texts, typename T::Scratch& scratch,
                std::vector<text::Id>& ids) {
  for (const std::string& text : texts.singles) {
    ids.clear();
    tokenizer.encode(text, {}, bare, scratch, ids);
    benchmark::DoNotOptimize(ids.data());
  }
}

template <text::Tokenizer T>
void encode_warm(benchmark::State& state, const T& tokenizer, const Texts& texts) {
  typename T::Scratch scratch;
  std::vector<text::Id> ids;
  encode_all(tokenizer, texts, scratch, ids);
  for (auto _ : state) encode_all(tokenizer, texts, scratch, ids);
  count(state, texts.bytes, texts.singles.size());
}

template <text::Tokenizer T>
void encode_cold(benchmark::State& state, const T& tokenizer, const Texts& texts) {
  for (auto _ : state) {
    state.PauseTiming();
    auto scratch = std::make_unique<typename T::Scratch>();
    std::vector<text::Id> ids;
    state.ResumeTiming();
    encode_all(tokenizer, texts, *scratch, ids);
    state.PauseTiming();
    scratch.reset();
    state.ResumeTiming();
  }
  count(state, texts.bytes, texts.singles.size());
}

/// Encodes each two neighbouring texts as a pair, which becomes a row of a set.
template <text::Tokenizer T>
void encode_pairs(const T& tokenizer, const Texts& texts, std::size_t max_length,
                  typename T::Scratch& scratch, data::EncodedSet& set) {
  std::vector<text::Id> ids;
  set.truncate(0);
  for (std::size_t i = 0; i + 1 < texts.singles.size(); i += 2) {
    ids.clear();
    const std::size_t first_segment = tokenizer.encode(texts.singles[i], texts.singles[i + 1],
                                                       {.max_length = max_length}, scratch, ids);
    set.push_back(ids, first_segment, 0);
  }
}

template <text::Tokenizer T>
void encode_pairs_warm(benchmark::State& state, const T& tokenizer, const Texts& texts,
                       std::size_t max_length) {
  typename T::Scratch scratch;
  data::EncodedSet set{tokenizer.vocab_size(), tokenizer.pad_id()};
  encode_pairs(tokenizer, texts, max_length, scratch, set);
  for (auto _ : state) encode_pairs(tokenizer, texts, max_length, scratch, set);
  count(state, texts.bytes, texts.singles.size() / 2);
}

/// Throws if the ids differ from those of the family's parts, one word at a time.
template <text::Tokenizer T>
void check(const T& tokenizer, const Texts& texts) {
  const auto& pipeline = tokenizer.pipeline();
  typename T::Scratch scratch;
  typename std::decay_t<decltype(pipeline)>::Plain::Scratch plain_scratch;
  std::vector<text::Id> ids;
  std::vector<text::Id> expected;
  constexpr auto all = std::numeric_limits<std::size_t>::max();
  for (const std::string& text : texts.singles) {
    ids.clear();
    expected.clear();
    pipeline.encode(text, all, scratch, ids);
    pipeline.plain().encode(text, all, plain_scratch, expected);
    if (ids != expected) throw Error{"other ids than those of the parts for: " + text};
  }
}

/// Throws if the ids differ from those of the parts, run one after the other on whole texts.
template <class Tokenizer>
void check_parts(const Tokenizer& tokenizer, const Texts& texts) {
  const auto& pipeline = tokenizer.pipeline();
  typename Tokenizer::Scratch scratch;
  typename Tokenizer::Scratch plain_scratch;
  std::vector<text::Id> ids;
  std::vector<text::Id> expected;
  constexpr auto all = std::numeric_limits<std::size_t>::max();
  for (const std::string& text : texts.singles) {
    ids.clear();
    expected.clear();
    pipeline.encode(text, all, scratch, ids);
    if constexpr (requires { pipeline.encode_parts(text, plain_scratch, expected); }) {
      pipeline.encode_parts(text, plain_scratch, expected);
    } else {
      const auto normal = pipeline.normalize(text, plain_scratch);
      pipeline.encode_normalized(normal, all, plain_scratch, expected);
    }
    if (ids != expected) throw Error{"other ids than those of the parts for: " + text};
  }
}

void check(const text::AssembledTokenizer& tokenizer, const Texts& texts) {
  check_parts(tokenizer, texts);
}

void check(const text::NormalizedByteLevelTokenizer& tokenizer, const Texts& texts) {
  check_parts(tokenizer, texts);
}

// Nothing is checked of pipelines that have no faster path than their parts.
void check(const text::WordTokenizer&, const Texts&) {}
void check(const text::EsmTokenizer&, const Texts&) {}

template <text::Tokenizer T>
void add_cases(const T& tokenizer, const Texts& texts, std::size_t max_length) {
  check(tokenizer, texts);
  const auto add = [&](const char* name, const std::function<void(benchmark::State&)>& run) {
    benchmark::RegisterBenchmark(name, run)->Unit(benchmark::kMillisecond);
  };
  add("encode/warm", [&](auto& state) { encode_warm(state, tokenizer, texts); });
  add("encode/cold", [&](auto& state) { encode_cold(state, tokenizer, texts); });
  add("encode_pairs/warm",
      [&, max_length](auto& state) { encode_pairs_warm(state, tokenizer, texts, max_length); });
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
    const std::size_t max_length = std::stoul(take("max-length", "128"));
    tokenizer.visit([&](const auto& family) { bench::add_cases(family, texts, max_length); });
    benchmark::Initialize(&argc, argv);
    if (!benchmark::ReportUnrecognizedArguments(argc, argv)) benchmark::RunSpecifiedBenchmarks();
  });
}
