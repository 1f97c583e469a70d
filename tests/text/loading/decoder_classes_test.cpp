#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/decoder_classes.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

std::filesystem::path decoder(const std::string& name) {
  return tests::golden() / "decoders" / name;
}

std::vector<Id> ids_of(const json::Value& record) {
  std::vector<Id> ids;
  for (const auto& id : record.at("ids").items()) ids.push_back(static_cast<Id>(id.integer()));
  return ids;
}

class Decoders : public testing::TestWithParam<const char*> {
 protected:
  AnyTokenizer tokenizer = load_tokenizer(decoder(GetParam()));
  json::Document document = json::Document::load(decoder(GetParam()) / "expected.json");
};

TEST_P(Decoders, HaveTheIdsOfTheReference) {
  const auto cases = document.root().at("cases").items();
  ASSERT_GT(cases.size(), 100u);
  tokenizer.visit([&](const auto& family) {
    typename std::decay_t<decltype(family)>::Scratch scratch;
    for (int pass = 0; pass < 2; ++pass) {  // first with an empty cache, then with a full one
      for (const auto& record : cases) {
        EncodeOptions options{.add_special_tokens = !record.find("special")};
        if (const auto longest = record.find("max_length")) {
          options.max_length = static_cast<std::size_t>(longest->integer());
        }
        const auto pair = record.find("pair");
        const auto text = record.at("text").string();
        std::vector<Id> ids;
        family.encode(text, pair ? std::optional{pair->string()} : std::nullopt, options, scratch,
                      ids);
        EXPECT_EQ(ids, ids_of(record)) << text;
      }
    }
  });
}

TEST_P(Decoders, KeepTheEndOfTextsThatAreCutAtTheLeft) {
  tokenizer.visit([&](const auto& family) {
    typename std::decay_t<decltype(family)>::Scratch scratch;
    for (const auto& record : document.root().at("left").items()) {
      std::vector<Id> ids;
      const EncodeOptions options{.max_length = 6, .long_texts = LongTexts::tail};
      family.encode(record.at("text").string(), std::nullopt, options, scratch, ids);
      EXPECT_EQ(ids, ids_of(record)) << record.at("text").string();
    }
  });
}

/// Returns a hash of the ids of texts with 4,096 code points, 64 of them in each text.
template <class Family>
std::string hash_of_codes(const Family& family, char32_t first, typename Family::Scratch& scratch) {
  std::vector<Id> ids;
  std::string text;
  for (char32_t code = first; code < first + 4096; ++code) {
    if (code < 0xD800 || code >= 0xE000) {
      std::string c;
      append_utf8(c, code);
      text += "a" + c + "b " + c + "1" + c + c + " \n" + c + "'" + c + "'s" + c;
    }
    if (code % 64 != 63) continue;
    family.encode(text, std::nullopt, {.add_special_tokens = false}, scratch, ids);
    text.clear();
  }
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    hash += static_cast<std::uint64_t>(ids[i] + 1) * (i * 0x9E3779B97F4A7C15u + 1);
  }
  return std::to_string(hash);
}

/// All 4,096 code points of a hash are compared; without optimization, which takes minutes, those
/// of the first two planes and the first of each later one.
bool is_compared([[maybe_unused]] std::size_t hash) {
#ifdef __OPTIMIZE__
  return true;
#else
  return hash < 32 || hash % 16 == 0;
#endif
}

TEST_P(Decoders, HaveTheIdsOfTheReferenceForEveryCodePoint) {
  const auto hashes = document.root().find("code_points");
  if (!hashes) GTEST_SKIP() << "another tokenizer has this pattern";
  const auto expected = hashes->items();
  ASSERT_EQ(expected.size(), 0x110000u / 4096);
  tokenizer.visit([&](const auto& family) {
    typename std::decay_t<decltype(family)>::Scratch scratch;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!is_compared(i)) continue;
      EXPECT_EQ(hash_of_codes(family, static_cast<char32_t>(4096 * i), scratch),
                expected[i].string())
          << "from code point " << 4096 * i;
    }
  });
}

std::string decoder_name(const testing::TestParamInfo<const char*>& param) {
  return param.param;
}

INSTANTIATE_TEST_SUITE_P(All, Decoders,
                         testing::Values("llama3", "gpt4", "olmo2", "qwen2", "qwen2_prefix",
                                         "gpt2_regex", "gpt2_short", "gpt2_prefix", "smollm2",
                                         "llama2", "mistral", "gemma", "class_llama",
                                         "class_llama_legacy", "class_llama_bytes", "class_gemma",
                                         "class_qwen2", "class_qwen3", "class_gpt2"),
                         decoder_name);

/// Tells whether a tokenizer has the cache of words of byte-level tokenizers.
bool has_cached_bytes(const char* name) {
  return load_tokenizer(decoder(name)).visit([]<class T>(const T&) {
    return std::is_same_v<T, RobertaTokenizer> || std::is_same_v<T, NormalizedByteLevelTokenizer>;
  });
}

TEST(DecoderTokenizers, CacheTheWordsOfBytes) {
  for (const char* name : {"llama3", "gpt4", "olmo2", "qwen2", "gpt2_regex", "smollm2"}) {
    EXPECT_TRUE(has_cached_bytes(name)) << name;
  }
  EXPECT_FALSE(has_cached_bytes("qwen2_prefix"));
}

}  // namespace
}  // namespace seqtrain::text
