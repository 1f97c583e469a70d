#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/text/loading/tokenizer_class.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::text {
namespace {

class TokenizerClass : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const {
    tests::write_file(folder_ / name, content);
  }
  [[nodiscard]] TokenizerKind kind() const {
    return tokenizer_kind(TokenizerFolder{folder_.path()});
  }
  [[nodiscard]] std::string problem() const {
    return tests::problem_of([&] { static_cast<void>(kind()); });
  }

  tests::TemporaryDirectory folder_;
};

TEST_F(TokenizerClass, IsNamedByTokenizerConfigThenByConfigThenByTheModelType) {
  write("config.json", R"({"model_type": "deberta-v2"})");
  EXPECT_EQ(kind(), TokenizerKind::deberta_v2);
  write("config.json", R"({"model_type": "deberta-v2", "tokenizer_class": "BertTokenizerFast"})");
  EXPECT_EQ(kind(), TokenizerKind::bert);
  write("tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
  EXPECT_EQ(kind(), TokenizerKind::xlm_roberta);
  write("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(kind(), TokenizerKind::file);
}

TEST_F(TokenizerClass, OfModernBertIsAlwaysTokenizerJson) {
  write("config.json", R"({"model_type": "modernbert", "tokenizer_class": "BertTokenizer"})");
  EXPECT_EQ(kind(), TokenizerKind::file);
}

TEST_F(TokenizerClass, FollowsFromTheFilesIfNoFileNamesIt) {
  EXPECT_NE(problem().find("has no tokenizer"), std::string::npos);
  write("merges.txt", "");
  write("vocab.json", "{}");
  EXPECT_EQ(kind(), TokenizerKind::roberta);
  write("vocab.txt", "");
  EXPECT_EQ(kind(), TokenizerKind::bert);
  write("tokenizer.json", "{}");
  EXPECT_EQ(kind(), TokenizerKind::file);
}

TEST_F(TokenizerClass, IsRefusedByName) {
  write("vocab.txt", "[UNK]\n");
  for (const std::string name : {"BertJapaneseTokenizer", "PhobertTokenizer", "BertweetTokenizer",
                                 "HerbertTokenizerFast", "GPT2Tokenizer", "MyTokenizer", "Fast"}) {
    write("config.json", R"({"model_type": "bert", "tokenizer_class": ")" + name + "\"}");
    EXPECT_NE(problem().find("config.json: tokenizer_class: the tokenizer class " + name +
                             " is not supported; if AutoTokenizer"),
              std::string::npos)
        << problem();
  }
}

TEST_F(TokenizerClass, IsRefusedIfItIsCodeOrHasVersions) {
  write("tokenizer.json", "{}");
  write("tokenizer_config.json", R"({"auto_map": {"AutoTokenizer": ["a.B", null]}})");
  EXPECT_NE(problem().find("auto_map: a tokenizer that is Python code"), std::string::npos);
  write("tokenizer_config.json", R"({"auto_map": {"AutoModel": "a.B"}})");
  EXPECT_EQ(kind(), TokenizerKind::file);
  write("tokenizer_config.json", R"({"fast_tokenizer_files": ["tokenizer.4.0.json"]})");
  EXPECT_NE(problem().find("fast_tokenizer_files: is not supported"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::text
