#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/windows.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

TEST(Windows, GivesTheWindowsOfTransformers) {
  const auto document = json::Document::load(tests::golden() / "windows.json");
  ASSERT_GT(document.root().items().size(), 30u);
  for (const auto& record : document.root().items()) {
    auto tokenizer = load_tokenizer(tests::golden() / "tokenizers" /
                                    std::string{record.at("tokenizer").string()});
    tokenizer.set_long_texts(LongTexts::windows,
                             static_cast<std::size_t>(record.at("max_length").integer()),
                             {.stride = static_cast<std::size_t>(record.at("stride").integer())});
    const auto ids = tokenizer.visit([&](const auto& known) {
      typename std::decay_t<decltype(known)>::Scratch scratch;
      std::vector<Id> out;
      known.encode(record.at("text").string(), {}, {}, scratch, out);
      return out;
    });
    std::vector<std::vector<Id>> expected;
    for (const auto& window : record.at("windows").items()) {
      expected.emplace_back();
      for (const auto& id : window.items()) {
        expected.back().push_back(static_cast<Id>(id.integer()));
      }
    }
    EXPECT_EQ(count_windows(ids.size(), tokenizer.windows().value()), expected.size());
    EXPECT_EQ(windows_of(ids, tokenizer.windows().value()), expected)
        << record.at("max_length").integer();
  }
}

TEST(Windows, AreForSingleTextsAlone) {
  auto tokenizer = load_tokenizer(tests::golden() / "tokenizers/bert");
  tokenizer.set_long_texts(LongTexts::windows, 8);
  tokenizer.visit([](const auto& known) {
    typename std::decay_t<decltype(known)>::Scratch scratch;
    std::vector<Id> out;
    for (const std::optional<LongTexts> way : {std::optional<LongTexts>{}, {LongTexts::tail}}) {
      EXPECT_THROW(known.encode("a", "b", {.long_texts = way}, scratch, out), InputError);
    }
  });
}

TEST(Windows, NeedTheSpecialTokensOfATextThatIsCut) {
  const std::vector<Id> ids{1};
  EXPECT_EQ(
      tests::problem_of([&] { (void)windows_of(ids, {.length = 4, .before = 1, .after = 1}); }),
      "a text needs its special tokens to be cut");
}

TEST(Windows, NeedRoomForNewIds) {
  const auto problem = [](std::size_t length, std::size_t stride) {
    const Windows windows{.length = length, .stride = stride, .before = 1, .after = 1};
    return tests::problem_of([&] { windows.validate(); });
  };
  EXPECT_EQ(problem(2, 0), "max_length: a window of 2 ids has no room for a text");
  EXPECT_EQ(problem(10, 7), "nothing was thrown");
  EXPECT_EQ(problem(3, 0), "nothing was thrown");
  for (const auto& [length, stride] : {std::pair{10, 8}, {10, 9}}) {
    EXPECT_NE(problem(length, stride).find("stride: " + std::to_string(stride) + " leaves no room"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace seqtrain::text
