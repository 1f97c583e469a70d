#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/text/loading/esm_class.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::text {
namespace {

/// A folder with these lines of vocab.txt and these members of tokenizer_config.json.
class EsmFolder {
 public:
  explicit EsmFolder(std::string_view lines, const std::string& members = "") {
    write_file_atomically(directory_.path() / "vocab.txt", lines);
    write_file_atomically(
        directory_.path() / "tokenizer_config.json",
        R"({"tokenizer_class": "EsmTokenizer")" + (members.empty() ? "" : ", " + members) + "}");
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

  [[nodiscard]] std::vector<Id> ids(std::string_view text) const {
    return load_tokenizer(path()).visit([&](const auto& tokenizer) {
      typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
      std::vector<Id> ids;
      tokenizer.encode(text, {}, {}, scratch, ids);
      return ids;
    });
  }

  [[nodiscard]] std::string problem() const {
    return tests::problem_of([&] { (void)load_tokenizer(path()); });
  }

 private:
  tests::TemporaryDirectory directory_;
};

constexpr std::string_view esm_lines = "<cls>\n<pad>\n<eos>\n<unk>\nA\n B\x1f \nAB\n<mask>";

TEST(EsmClass, ReadsLinesAsPythonDoes) {
  EXPECT_EQ(EsmFolder{esm_lines}.ids("ABBA <mask>x"), (std::vector<Id>{0, 6, 5, 4, 7, 3, 2}));
  EXPECT_EQ(EsmFolder{"<cls>\r<pad>\r\n<eos>\v<unk>\u2028A"}.ids("A"), (std::vector<Id>{0, 4, 2}));
}

TEST(EsmClass, FindsNoTokensInTextsIfAsked) {
  EXPECT_EQ((EsmFolder{esm_lines, R"("split_special_tokens": true)"}.ids("AB ABA A<mask>")),
            (std::vector<Id>{0, 6, 3, 3, 2}));
  const std::string spaced = R"("split_special_tokens": true, "extra_special_tokens": ["A B"])";
  EXPECT_EQ((EsmFolder{esm_lines, spaced}.ids("A B")), (std::vector<Id>{0, 4, 5, 2}));
}

TEST(EsmClass, RefusesWhatItDoesNotCompute) {
  EXPECT_NE(EsmFolder{"<cls>\n<eos>"}.problem().find("has no unk_token <unk>"), std::string::npos);
  EXPECT_NE((EsmFolder{esm_lines, R"("eos_token": null)"}.problem().find("has no eos_token")),
            std::string::npos);
  EXPECT_NE(
      (EsmFolder{esm_lines, R"("added_tokens_decoder": {"9": {"content": "A"}})"}.problem().find(
          "has the id 9, but the vocabulary gives it another")),
      std::string::npos);
  EXPECT_NE((EsmFolder{esm_lines,
                       R"("added_tokens_decoder": {"4": {"content": "A", "single_word": true}})"}
                 .problem()
                 .find("has single_word, which is not supported")),
            std::string::npos);
  EXPECT_NE(EsmFolder{"<cls>\n\xff"}.problem().find("not UTF-8"), std::string::npos);
  const EsmFolder folder{esm_lines};
  std::filesystem::remove(folder.path() / "vocab.txt");
  EXPECT_NE(folder.problem().find("has no vocab.txt; EsmTokenizer needs it"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::text
