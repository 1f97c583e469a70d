#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>

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

}  // namespace
}  // namespace seqtrain::text
