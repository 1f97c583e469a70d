#include <cstddef>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/loading/tokenizer_class.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
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

TEST_F(TokenizerClass, IsThatOfARelatedFamilyForNewerModelTypes) {
  const std::pair<const char*, TokenizerKind> types[] = {
      {"ernie", TokenizerKind::bert},
      {"megatron-bert", TokenizerKind::bert},
      {"bart", TokenizerKind::roberta},
      {"data2vec-text", TokenizerKind::roberta},
      {"roberta-prelayernorm", TokenizerKind::roberta}};
  for (const auto& [type, expected] : types) {
    write("config.json", R"({"model_type": ")" + std::string{type} + "\"}");
    EXPECT_EQ(kind(), expected) << type;
    EXPECT_EQ(gives_token_types(TokenizerFolder{folder_.path()}), expected == TokenizerKind::bert);
  }
}

TEST_F(TokenizerClass, OfADecoderFollowsFromItsTypeAndItsFile) {
  const auto kind_of = [&](const std::string& type, const std::string& name) {
    write("config.json", R"({"model_type": ")" + type + "\"}");
    write("tokenizer_config.json", name.empty() ? "{}" : R"({"tokenizer_class": ")" + name + "\"}");
    return kind();
  };
  write("tokenizer.json", "{}");
  EXPECT_EQ(kind_of("llama", ""), TokenizerKind::file);
  EXPECT_EQ(kind_of("llama", "LlamaTokenizerFast"), TokenizerKind::llama);
  EXPECT_EQ(kind_of("mistral", "LlamaTokenizer"), TokenizerKind::file);
  EXPECT_EQ(kind_of("olmo2", "GPT2Tokenizer"), TokenizerKind::file);
  EXPECT_EQ(kind_of("llama", "GPT2Tokenizer"), TokenizerKind::gpt2);
  EXPECT_EQ(kind_of("qwen2", "PreTrainedTokenizerFast"), TokenizerKind::qwen2);
  EXPECT_EQ(kind_of("qwen3", "PreTrainedTokenizerFast"), TokenizerKind::file);
  EXPECT_EQ(kind_of("qwen3", ""), TokenizerKind::qwen2);
  EXPECT_EQ(kind_of("gemma3_text", ""), TokenizerKind::gemma);
  write("tokenizer.json", R"({"decoder": {"type": "ByteLevel"}})");
  EXPECT_EQ(kind_of("llama", "LlamaTokenizer"), TokenizerKind::file);
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
                                 "HerbertTokenizerFast", "T5Tokenizer", "MyTokenizer", "Fast"}) {
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

constexpr const char* pairs_with_types = R"({"version": "1.0",
  "added_tokens": [{"id": 0, "content": "[PAD]", "special": true}],
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "TemplateProcessing", "special_tokens": {},
    "single": [{"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}]},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[PAD]": 0, "[UNK]": 1, "a": 2, "b": 3}}})";

/// A folder with a tokenizer whose template gives the second text type 1.
class TokenTypes : public testing::Test {
 protected:
  TokenTypes() { write("tokenizer.json", pairs_with_types); }

  void write(const std::string& name, const std::string& text) const {
    tests::write_file(directory_ / name, text);
  }

  [[nodiscard]] bool given() const {
    return load_tokenizer(directory_.path()).visit([](const auto& tokenizer) {
      typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
      std::vector<Id> ids;
      const std::size_t zeros = tokenizer.encode("a", "b", {}, scratch, ids);
      EXPECT_EQ(ids, (std::vector<Id>{2, 3}));
      return zeros == 1;
    });
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(TokenTypes, FollowTheTemplateIfNoFileNamesAClass) {
  EXPECT_TRUE(given());
  write("config.json", "{}");
  EXPECT_TRUE(given());
}

TEST_F(TokenTypes, AreThoseOfAutoTokenizer) {
  const auto cases = json::Document::load(tests::golden() / "token_types.json");
  for (const auto& one : cases.root().items()) {
    const auto member = [&](const char* key, const char* of) {
      const auto value = one.find(of);
      if (!value) return std::string{};
      return std::string{R"(")"} + key + R"(": )" + std::string{simdjson::minify(value->element())};
    };
    const std::string name = member("tokenizer_class", "class");
    const std::string inputs = member("model_input_names", "names");
    const std::string comma = name.empty() || inputs.empty() ? "" : ",";
    write("tokenizer_config.json", "{" + name + comma + inputs + "}");
    write("config.json", "{" + member("model_type", "type") + "}");
    EXPECT_EQ(gives_token_types(TokenizerFolder{directory_.path()}), one.at("given").boolean())
        << simdjson::minify(one.element());
  }
}

TEST_F(TokenTypes, FollowTheClassInTheModelsConfiguration) {
  write("config.json", R"({"model_type": "bert", "tokenizer_class": "AlbertTokenizer"})");
  EXPECT_FALSE(gives_token_types(TokenizerFolder{directory_.path()}));
  write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizerFast"})");
  EXPECT_TRUE(gives_token_types(TokenizerFolder{directory_.path()}));
}

TEST_F(TokenTypes, AreLeftOutOfATokenizersEncodings) {
  write("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_FALSE(given());
  write("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast",
                                     "model_input_names": ["input_ids", "token_type_ids"]})");
  EXPECT_TRUE(given());
}

}  // namespace
}  // namespace seqtrain::text
