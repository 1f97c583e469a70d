#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/loading/save_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/long_texts.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::text {
namespace {

TEST(WithLongTexts, SaysItAsTransformersDoes) {
  const std::string given = R"({"do_lower_case": true, "truncation_side": "left"})";
  const auto flat = [](std::string text) {
    std::erase_if(text, [](char c) { return c == '\n' || c == ' '; });
    return text;
  };
  const auto with = [&](std::string_view settings, LongTexts way, std::size_t length) {
    return flat(with_long_texts(settings, way, length));
  };
  constexpr std::size_t no_limit = EncodeOptions{}.max_length;
  EXPECT_EQ(with("{}", LongTexts::tail, no_limit), R"({"truncation_side":"left"})");
  EXPECT_EQ(with(given, LongTexts::truncate, no_limit),
            R"({"do_lower_case":true,"truncation_side":"right"})");
  EXPECT_EQ(with(given, LongTexts::head_tail, no_limit),
            R"({"do_lower_case":true,"truncation_side":"right","long_texts":"head-tail"})");
  EXPECT_EQ(with(R"({"model_max_length": 512, "max_len": 1, "long_texts": "head-tail"})",
                 LongTexts::tail, 128),
            R"({"truncation_side":"left","model_max_length":128})");
  EXPECT_EQ(flat(with_long_texts(R"({"long_texts": "head-tail"})", LongTexts::windows, 128,
                                 {.stride = 16})),
            R"({"truncation_side":"right","long_texts":"windows","window_stride":16,)"
            R"("model_max_length":128})");
  EXPECT_EQ(flat(with_long_texts(R"({"window_pooling": "max"})", LongTexts::windows, 128)),
            R"({"truncation_side":"right","long_texts":"windows","window_stride":0,)"
            R"("model_max_length":128})");
}

/// Returns the ids to which a tokenizer cuts a text, by the length of its files.
std::vector<Id> ids_of(const AnyTokenizer& tokenizer) {
  return tokenizer.visit([&](const auto& known) {
    typename std::decay_t<decltype(known)>::Scratch scratch;
    std::vector<Id> ids;
    known.encode("the river ran under the bridge, and the children were running", {},
                 {.max_length = tokenizer.max_length()}, scratch, ids);
    return ids;
  });
}

TEST(SaveTokenizer, CopiesFilesUnlessAWayIsChosen) {
  const tests::TemporaryDirectory directory;
  const auto given = tests::golden() / "tokenizers/bert";
  save_tokenizer(load_tokenizer(given), directory.path());
  EXPECT_TRUE(std::filesystem::exists(directory / "tokenizer.json"));
  EXPECT_EQ(std::filesystem::exists(directory / "tokenizer_config.json"),
            std::filesystem::exists(given / "tokenizer_config.json"));
}

TEST(SaveTokenizer, IsReadBackWithTheWayAndTheLength) {
  for (const auto& [name, way] : tests::ways_of_long_texts) {
    const tests::TemporaryDirectory directory;
    auto tokenizer = load_tokenizer(tests::golden() / "tokenizers/bert");
    tokenizer.set_long_texts(way, 9, {.stride = 4, .pooling = WindowPooling::max});
    save_tokenizer(tokenizer, directory.path());
    const auto again = load_tokenizer(directory.path());
    EXPECT_EQ(again.max_length(), 9u);
    EXPECT_EQ(again.windows().has_value(), way == LongTexts::windows);
    if (const auto windows = again.windows()) {
      EXPECT_EQ(windows->stride, 4u);
      EXPECT_EQ(windows->pooling, WindowPooling::max);
    }
    EXPECT_EQ(ids_of(again), ids_of(tokenizer)) << name;
    EXPECT_EQ(ids_of(again).size(), 9u);
  }
}

}  // namespace
}  // namespace seqtrain::text
