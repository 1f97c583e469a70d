#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/assembled_pipeline.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/loading/parts_json.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

std::filesystem::path assembled(const std::string& name) {
  return tests::golden() / "assembled" / name;
}

class Assembled : public testing::TestWithParam<const char*> {};

TEST_P(Assembled, HasTheIdsOfTheReference) {
  const auto tokenizer = load_tokenizer(assembled(GetParam()));
  const auto document = json::Document::load(assembled(GetParam()) / "expected.json");
  const auto cases = document.root().items();
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
        const std::size_t type_zero = family.encode(
            text, pair ? std::optional{pair->string()} : std::nullopt, options, scratch, ids);
        std::vector<Id> expected;
        for (const auto& id : record.at("ids").items()) {
          expected.push_back(static_cast<Id>(id.integer()));
        }
        EXPECT_EQ(ids, expected) << text;
        const auto types = record.find("type_zero");
        EXPECT_EQ(type_zero, types ? static_cast<std::size_t>(types->integer()) : ids.size())
            << text;
      }
    }
  });
}

std::string assembled_name(const testing::TestParamInfo<const char*>& param) {
  return param.param;
}

INSTANTIATE_TEST_SUITE_P(All, Assembled,
                         testing::Values("unigram_nfkc", "unigram_albert", "unigram_deberta",
                                         "unigram_camembert", "unigram_plain", "unigram_first",
                                         "unigram_front", "unigram_unsplit", "unigram_bytes",
                                         "unigram_bare", "bpe_fallback", "bpe_suffix", "bpe_prefix",
                                         "bpe_nfc_bytes", "bpe_digits_bytes", "wordpiece_words"),
                         assembled_name);

TEST(AssembledPipeline, CutsAtSpacesWhereThatChangesNothing) {
  const auto cuts = [](const char* name) {
    const auto document = json::Document::load(assembled(name) / "tokenizer.json");
    return SpacedWords::rule(read_normalizers(document.root()),
                             read_pre_tokenizers(document.root(), true))
        .cuts;
  };
  for (const char* name : {"unigram_albert", "unigram_deberta", "unigram_camembert"}) {
    EXPECT_TRUE(cuts(name)) << name;
  }
  for (const char* name : {"unigram_first", "unigram_unsplit", "unigram_bare", "bpe_suffix"}) {
    EXPECT_FALSE(cuts(name)) << name;
  }
}

}  // namespace
}  // namespace seqtrain::text
