#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

TEST(UnknownId, IsTheIdOfTextThatTheVocabularyLacks) {
  for (const char* name : {"bert", "bert_cased", "bert_files"}) {
    const auto tokenizer = load_tokenizer(tests::golden() / "tokenizers" / name);
    const auto unknown = unknown_id(tokenizer);
    ASSERT_TRUE(unknown) << name;
    tokenizer.visit([&]<class T>(const T& known) {
      typename T::Scratch scratch;
      std::vector<Id> ids;
      known.encode("[UNK]", {}, {.add_special_tokens = false}, scratch, ids);
      EXPECT_EQ(ids, std::vector{*unknown}) << name;
    });
  }
}

TEST(UnknownId, IsMissingInVocabulariesOfBytes) {
  for (const char* name : {"gpt2", "roberta"}) {
    EXPECT_FALSE(unknown_id(load_tokenizer(tests::golden() / "tokenizers" / name))) << name;
  }
}

TEST(TextChange, PutsAPromptBeforeATextAndLowersAllButAddedTokens) {
  AnyTokenizer tokenizer{load_tokenizer(tests::golden() / "tokenizers/bert_cased")};
  const auto ids = [&](std::string_view text) {
    return tokenizer.visit([&](const auto& known) {
      typename std::decay_t<decltype(known)>::Scratch scratch;
      std::vector<Id> out;
      known.encode(text, {}, {}, scratch, out);
      return out;
    });
  };
  const auto plain = ids("query: The Children [SEP] RAN");
  const auto lower = ids("query: the children [SEP] ran");
  ASSERT_NE(plain, ids("The Children [SEP] RAN"));
  tokenizer.set_change({.prompt = "query: "});
  EXPECT_EQ(ids("The Children [SEP] RAN"), plain);
  tokenizer.set_change({.prompt = "QUERY: ", .lowercases = true});
  EXPECT_EQ(ids("The Children [SEP] RAN"), lower);
  tokenizer.set_change({});
  EXPECT_EQ(ids("query: The Children [SEP] RAN"), plain);
}

}  // namespace
}  // namespace seqtrain::text
