#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/loading/load_tokenizer.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

namespace fs = std::filesystem;

/// Gives each test a folder, which is removed after it.
class LoadTokenizer : public testing::Test {
 protected:
  LoadTokenizer() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path{testing::TempDir()} / (std::string{"load_tokenizer_"} + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~LoadTokenizer() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream{folder_ / name} << content;
  }

  /// Writes a small tokenizer.json in which `part` is replaced by `other`.
  void write_json(std::string_view part = "", std::string_view other = "") const {
    std::string text = R"({"version": "1.0", "truncation": null, "padding": null,
      "added_tokens": [{"id": 4, "content": "<pad>", "special": true}],
      "normalizer": null,
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
      "post_processor": null,
      "model": {"type": "BPE", "dropout": null, "end_of_word_suffix": "", "byte_fallback": false,
                "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3}, "merges": [["a", "b"]]}})";
    if (!part.empty()) {
      const auto at = text.find(part);
      ASSERT_NE(at, std::string::npos) << part;
      text.replace(at, part.size(), other);
    }
    write("tokenizer.json", text);
  }

  void copy(const char* tokenizer, std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      fs::copy(tests::golden() / "tokenizers" / tokenizer / name, folder_ / name);
    }
  }

  [[nodiscard]] std::string error() const {
    try {
      const auto tokenizer = load_tokenizer(folder_);
    } catch (const InputError& problem) {
      return problem.what();
    }
    return "no error";
  }

  void expect_error(const std::string& part) const {
    EXPECT_NE(error().find(part), std::string::npos) << error();
  }

  fs::path folder_;
};

TEST_F(LoadTokenizer, ReadsWhatIsSupported) {
  write_json();
  const auto tokenizer = load_tokenizer(folder_);
  EXPECT_EQ(tokenizer.vocab_size(), 5u);
  EXPECT_EQ(tokenizer.pad_id(), 4);
  EXPECT_EQ(tokenizer.special_tokens(true), 0u);
  EXPECT_EQ(tokenizer.files(), (std::vector<fs::path>{folder_ / "tokenizer.json"}));
}

TEST_F(LoadTokenizer, NamesThePartThatIsNotSupported) {
  const std::vector<std::array<std::string, 3>> cases{
      {R"("normalizer": null)", R"("normalizer": {"type": "Nmt"})", "normalizer.type: \"Nmt\""},
      {"\"ByteLevel\"", "\"UnicodeScripts\"", "pre_tokenizer.type: \"UnicodeScripts\""},
      {R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": true})",
       R"({"type": "Split", "pattern": {"Regex": "\\d+"}, "behavior": "Isolated"})",
       "pre_tokenizer.pattern.Regex: \"\\d+\""},
      {R"("post_processor": null)", R"("post_processor": {"type": "Else"})",
       "post_processor.type: \"Else\""},
      {"\"BPE\"", "\"WordLevel\"", "model.type: \"WordLevel\""},
      {R"("dropout": null)", R"("dropout": 0.1)", "model.dropout"},
      {R"("end_of_word_suffix": "")", R"("end_of_word_suffix": "</w>")",
       "model.end_of_word_suffix: \"</w>\""},
      {R"("byte_fallback": false)", R"("byte_fallback": true)", "model.byte_fallback"},
      {R"("version": "1.0")", R"("version": "2.0")", "version: \"2.0\""}};
  for (const auto& [part, other, expected] : cases) {
    write_json(part, other);
    expect_error(expected);
    expect_error("tokenizer.json");
  }
}

TEST_F(LoadTokenizer, RefusesAFolderThatIsNotThere) {
  fs::remove_all(folder_);
  expect_error("no such directory");
}

TEST_F(LoadTokenizer, RefusesDamage) {
  expect_error("has no tokenizer");
  write("tokenizer.json", "{");
  expect_error("not valid JSON");
  write_json(R"(["a", "b"])", R"("a  b")");
  expect_error("merge 0 is not a pair of tokens");
  write_json(R"(["a", "b"])", R"(["a", "z"])");
  expect_error("which the vocabulary lacks");
  write_json("\"ab\": 2", "\"ab\": -2");
  expect_error("out of range");
  write_json("\"ab\": 2", "\"ab\": \"x\"");
  expect_error("not an integer");
  write_json("<pad>", "<else>");
  expect_error("no padding token <pad>");
}

TEST_F(LoadTokenizer, RefusesTemplatesThatTypesCannotFollow) {
  const auto with = [&](const std::string& pair) {
    write_json(R"("post_processor": null)",
               R"("post_processor": {"type": "TemplateProcessing", "special_tokens": {},
                  "single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": [)" +
                   pair + "]}");
  };
  const std::string a = R"({"Sequence": {"id": "A", "type_id": 0}})";
  const std::string b = R"({"Sequence": {"id": "B", "type_id": 1}})";
  with(a + "," + b);
  EXPECT_EQ(error(), "no error");
  for (const auto& pair : {b + "," + a, a, a + "," + a, a + "," + b + "," + b}) {
    with(pair);
    expect_error("the template is not supported");
  }
  with(a + R"(,{"Sequence": {"id": "B", "type_id": 2}})");
  expect_error("the template is not supported");
}

TEST_F(LoadTokenizer, PadIdComesFromTheVocabulary) {
  copy("roberta_files", {"vocab.json", "merges.txt"});
  EXPECT_EQ(load_tokenizer(folder_).pad_id(), 1);
  write("tokenizer_config.json", R"({"pad_token": {"content": "<unk>"}})");
  EXPECT_EQ(load_tokenizer(folder_).pad_id(), 3);
  EXPECT_EQ(load_tokenizer(folder_).files().size(), 3u);
  write("tokenizer_config.json", R"({"pad_token": "<none>"})");
  EXPECT_EQ(error(), "no error") << "a new token gets the next id";
}

TEST_F(LoadTokenizer, NamesLinesOfVocabularyFiles) {
  copy("roberta_files", {"vocab.json"});
  write("merges.txt", "#version: 0.2\na b c\n");
  expect_error("merges.txt:2");
  write("vocab.txt", "[PAD]\n[UNK]\n\xFF\n");
  expect_error("vocab.txt:3: not UTF-8");
  write("vocab.txt", "[PAD]\na\n");
  expect_error("vocab.txt: the vocabulary has no unknown token [UNK]");
}

TEST_F(LoadTokenizer, BertFilesFollowTheConfiguration) {
  copy("bert_files", {"vocab.txt"});
  const auto ids = [&](std::string_view text) {
    return load_tokenizer(folder_).visit([&](const auto& tokenizer) {
      typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
      std::vector<Id> encoded;
      tokenizer.encode(text, {}, {}, scratch, encoded);
      return encoded;
    });
  };
  EXPECT_EQ(ids("THE"), ids("the"));
  write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_NE(ids("THE"), ids("the"));
}

}  // namespace
}  // namespace seqtrain::text
