#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/corrupt.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

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
  EXPECT_EQ(error(), "no error");  // no padding token is needed
  EXPECT_EQ(load_tokenizer(folder_).pad_id(), 0);
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

TEST_F(LoadTokenizer, TruncatesAtTheSideThatTheFolderNames) {
  const auto ids = [&](std::string_view pair, std::size_t max_length,
                       std::optional<LongTexts> way = {}) {
    return load_tokenizer(folder_).visit([&](const auto& tokenizer) {
      typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
      std::vector<Id> out;
      const auto second = pair.empty() ? std::nullopt : std::optional{pair};
      const EncodeOptions options{.max_length = max_length, .long_texts = way};
      tokenizer.encode("abcab", second, options, scratch, out);
      return out;
    });
  };
  write_json(R"("truncation": null)", R"("truncation": {"direction": "Left"})");
  EXPECT_EQ(ids("", 2), (std::vector<Id>{3, 2}));
  EXPECT_EQ(ids("ccab", 3), (std::vector<Id>{2, 3, 2})) << "of the pair the second loses one";
  EXPECT_EQ(ids("", 2, LongTexts::truncate), (std::vector<Id>{2, 3}))
      << "the caller chooses the side";
  write("tokenizer_config.json", R"({"truncation_side": "right"})");
  EXPECT_EQ(ids("", 2), (std::vector<Id>{2, 3}));
  EXPECT_EQ(ids("", 2, LongTexts::tail), (std::vector<Id>{3, 2}));
  write("tokenizer_config.json", R"({"truncation_side": "middle"})");
  expect_error("truncation_side: \"middle\" is not supported; supported: left and right");
}

TEST_F(LoadTokenizer, KeepsHeadAndTailIfTheFolderSaysSo) {
  write_json();
  write("tokenizer_config.json", R"({"long_texts": "head-tail", "truncation_side": "left"})");
  const auto ids = load_tokenizer(folder_).visit([](const auto& tokenizer) {
    typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
    std::vector<Id> out;
    tokenizer.encode("abccab", {}, {.max_length = 2}, scratch, out);
    return out;
  });
  EXPECT_EQ(ids, (std::vector<Id>{2, 2}));
  write("tokenizer_config.json", R"({"long_texts": "windows", "window_stride": -1})");
  expect_error("window_stride: must not be negative");
  write("tokenizer_config.json", R"({"long_texts": "windows", "window_pooling": "sum"})");
  expect_error("window_pooling");
  write("tokenizer_config.json", R"({"long_texts": "middle"})");
  expect_error("long_texts: \"middle\" is not supported; supported: head-tail and windows");
}

TEST_F(LoadTokenizer, KnowsTheLengthThatTheFolderAllows) {
  write_json();
  constexpr std::size_t no_limit = EncodeOptions{}.max_length;
  EXPECT_EQ(load_tokenizer(folder_).max_length(), no_limit);
  write("tokenizer_config.json", R"({"model_max_length": 128})");
  EXPECT_EQ(load_tokenizer(folder_).max_length(), 128u);
  write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(load_tokenizer(folder_).max_length(), no_limit);
  write("tokenizer_config.json", R"({"model_max_length": 0})");
  expect_error("model_max_length: must be at least 1");
}

TEST_F(LoadTokenizer, SpecialTokensStayTextIfTheFolderSplitsThem) {
  write_json(R"("added_tokens": [)",
             R"("added_tokens": [{"id": 2, "content": "ab", "special": true}, )");
  const auto ids = [&] {
    return load_tokenizer(folder_).visit([](const auto& tokenizer) {
      typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
      std::vector<Id> out;
      tokenizer.encode("cabc", {}, {}, scratch, out);
      return out;
    });
  };
  write("tokenizer_config.json", R"({"additional_special_tokens": ["cab"]})");
  EXPECT_EQ(ids(), (std::vector<Id>{5, 3}));
  write("tokenizer_config.json",
        R"({"additional_special_tokens": ["cab"], "split_special_tokens": true})");
  EXPECT_EQ(ids(), (std::vector<Id>{3, 2, 3}));
}

TEST_F(LoadTokenizer, RefusesAClassWhoseFilesAreMissingOrOfAnotherModel) {
  write_json();
  write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
  expect_error("model: the class of the tokenizer takes a WordPiece and not a BPE");
  fs::remove(folder_ / "tokenizer.json");
  expect_error("has no vocab.txt and no tokenizer.json");
  write("vocab.txt", "[UNK]\n");
  write("tokenizer_config.json", R"({"tokenizer_class": "DebertaV2Tokenizer"})");
  expect_error("has no spm.model");
  write("spm.model", "damaged");
  expect_error("spm.model");
  write("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  expect_error("has no tokenizer.json");
}

TEST_F(LoadTokenizer, SurvivesDamagedSentencePieceModelsOfAClass) {
  write("tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
  const auto model = tests::read_file(tests::golden() / "sentence_pieces/unigram_bytes.model");
  tests::survive_flipped_bits(model, 200, [&](const std::string& damaged) {
    write("sentencepiece.bpe.model", damaged);
    load_tokenizer(folder_).visit([](const auto& tokenizer) {
      typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
      std::vector<Id> ids;
      tokenizer.encode("The river … œuf ﬁn 😀 <sym> ab  est é", {}, {}, scratch, ids);
    });
  });
}

TEST_F(LoadTokenizer, RefusesPiecesThatAreNotUtf8) {
  write("tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
  const auto piece = [](const std::string& text, char type) {
    const std::string fields =
        "\x0A" + std::string{static_cast<char>(text.size())} + text + "\x18" + type;
    return "\x0A" + std::string{static_cast<char>(fields.size())} + fields;
  };
  write("sentencepiece.bpe.model",
        piece("<unk>", 2) + piece("<s>", 3) + piece("</s>", 3) + piece("a", 1) + piece("\xA9", 4));
  expect_error("piece 4 is not UTF-8");
}

/// The folders of tests/golden/tokenizer_folders.py with the ids that transformers gives.
class TokenizerFolders : public LoadTokenizer {
 protected:
  /// Writes the files of a golden folder. In them `@name@` stands for one of the contents.
  void write_folder(const json::Value& files, const json::Value& contents) const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const auto& [name, value] : files.members()) {
      std::string text{value.string()};
      const auto begin = text.find('@');
      if (begin != text.npos) {
        const auto end = text.find('@', begin + 1);
        const auto key = text.substr(begin + 1, end - begin - 1);
        std::string content{contents.at(key).string()};
        if (key.starts_with("bytes:")) content = decode_base64(content, Base64::standard).value();
        text.replace(begin, end + 1 - begin, content);
      }
      write(std::string{name}, text);
    }
  }

  /// Returns the ids of each question.
  [[nodiscard]] std::vector<std::vector<Id>> answers(
      const std::vector<json::Value>& questions) const {
    return load_tokenizer(folder_).visit([&](const auto& tokenizer) {
      typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
      std::vector<std::vector<Id>> answers;
      for (const auto& question : questions) {
        const auto parts = question.items();
        EncodeOptions options;
        if (parts[2].is_integer()) {
          options.max_length = static_cast<std::size_t>(parts[2].integer());
        }
        const auto pair = parts[1].is_string() ? std::optional{parts[1].string()} : std::nullopt;
        tokenizer.encode(parts[0].string(), pair, options, scratch, answers.emplace_back());
      }
      return answers;
    });
  }
};

TEST_F(TokenizerFolders, HaveAllTheirFilesCopiedWithAModel) {
  const auto document = json::Document::load(tests::golden() / "tokenizer_folders.json");
  const auto folders = document.root().at("folders").items();
  for (const auto& folder : std::span{folders}.first(60)) {
    if (!folder.find("ids")) continue;
    write_folder(folder.at("files"), document.root().at("contents"));
    const auto files = load_tokenizer(folder_).files();
    for (const auto& [name, value] : folder.at("files").members()) {
      const bool unused = name.ends_with(".model") && fs::exists(folder_ / "tokenizer.json");
      const auto count = std::ranges::count(files, folder_ / name);
      EXPECT_EQ(count, name == "config.json" || unused ? 0 : 1) << name;
    }
  }
}

TEST_F(TokenizerFolders, GiveTheIdsOfTransformersOrAreRefused) {
  const auto document = json::Document::load(tests::golden() / "tokenizer_folders.json");
  const auto contents = document.root().at("contents");
  const auto questions = document.root().at("questions").items();
  const auto folders = document.root().at("folders").items();
  ASSERT_GT(folders.size(), 200u);
  for (const auto& folder : folders) {
    write_folder(folder.at("files"), contents);
    std::vector<std::vector<Id>> expected;
    if (const auto right = folder.find("ids")) {
      for (const auto& ids : right->items()) {
        auto& list = expected.emplace_back();
        for (const auto& id : ids.items()) list.push_back(static_cast<Id>(id.integer()));
      }
      EXPECT_EQ(answers(questions), expected) << &folder - folders.data();
    } else {
      EXPECT_NE(error(), "no error") << &folder - folders.data();
    }
  }
}

}  // namespace
}  // namespace seqtrain::text
