#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/text/loading/special_tokens.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::text {
namespace {

class SpecialTokensOfFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const {
    tests::write_file(folder_ / name, content);
  }
  [[nodiscard]] SpecialTokens read() const {
    return SpecialTokens{TokenizerFolder{folder_.path()}};
  }

  /// Returns the token that is added with this content. An id of -1 says that there is none.
  static AddedToken added(const SpecialTokens& special, const std::string& content) {
    Vocabulary vocabulary;
    AddedVocabulary tokens{vocabulary};
    special.add_to(tokens);
    const auto all = tokens.tokens(false);
    const auto found = std::ranges::find(all, content, &AddedToken::content);
    return found == all.end() ? AddedToken{.content = "", .id = -1} : *found;
  }

  tests::TemporaryDirectory folder_;
};

TEST_F(SpecialTokensOfFiles, OfTheMapReplaceThoseOfTheConfiguration) {
  write("tokenizer_config.json", R"({"cls_token": "[A]", "pad_token": "[P]"})");
  write("special_tokens_map.json", R"({"cls_token": "[B]", "pad_token": null})");
  EXPECT_EQ(read().at("cls_token"), "[B]");
  EXPECT_FALSE(read().find("pad_token"));
  EXPECT_NE(tests::problem_of([&] {
              static_cast<void>(read().at("pad_token"));
            }).find("the tokenizer has no pad_token"),
            std::string::npos);
}

TEST_F(SpecialTokensOfFiles, OfOtherFilesAreNotReadBesideADecoder) {
  write("special_tokens_map.json", R"({"cls_token": "[B]"})");
  write("added_tokens.json", R"({"new": 7})");
  EXPECT_EQ(added(read(), "new").id, 0);
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"3": {"content": "x"}}})");
  EXPECT_FALSE(read().find("cls_token"));
  EXPECT_EQ(added(read(), "new").id, -1);
  EXPECT_EQ(added(read(), "x").id, 0);
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "x"}}})");
  EXPECT_NE(tests::problem_of([&] { static_cast<void>(read()); }).find("expected ids as names"),
            std::string::npos);
}

TEST_F(SpecialTokensOfFiles, TakeFlagsFromTheDecoder) {
  write("tokenizer_config.json",
        R"({"mask_token": "<mask>", "added_tokens_decoder": {"4": {"content": "<mask>",
            "lstrip": true, "special": true}}})");
  EXPECT_TRUE(added(read(), "<mask>").lstrip);
}

TEST_F(SpecialTokensOfFiles, AStringThatIsRepeatedKeepsTheFlagsOfAnObject) {
  write("tokenizer_config.json",
        R"({"eos_token": "</s>", "extra_special_tokens": ["</s>"],
            "sep_token": {"__type": "AddedToken", "content": "</s>", "lstrip": true}})");
  SpecialTokens special = read();
  EXPECT_TRUE(added(special, "</s>").lstrip);
  special.make_objects_of_strings();
  EXPECT_FALSE(added(special, "</s>").lstrip) << "the string is added last";
}

TEST_F(SpecialTokensOfFiles, OfOtherRolesAreAdded) {
  write("tokenizer_config.json", R"({"image_token": "<image>", "add_bos_token": true,
      "extra_special_tokens": {"audio_token": "<audio>"}, "additional_special_tokens": ["<x>"]})");
  for (const char* token : {"<image>", "<audio>", "<x>"}) {
    EXPECT_GE(added(read(), token).id, 0) << token;
  }
}

TEST_F(SpecialTokensOfFiles, OnlyAMaskWithoutFlagsTakesSpaces) {
  SpecialTokens special = read();
  special.fall_back("mask_token", "<mask>");
  special.let_mask_take_spaces();
  EXPECT_TRUE(added(special, "<mask>").lstrip);
  write("special_tokens_map.json", R"({"mask_token": {"content": "<mask>"}})");
  special = read();
  special.let_mask_take_spaces();
  EXPECT_FALSE(added(special, "<mask>").lstrip);
}

}  // namespace
}  // namespace seqtrain::text
