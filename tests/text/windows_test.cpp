#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>
#include <seqtrain/text/windows.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

/// Loads a tokenizer that reads windows.
AnyTokenizer with_windows(std::string_view name, std::size_t length, std::size_t stride = 0) {
  auto tokenizer = load_tokenizer(tests::golden() / "tokenizers" / std::string{name});
  tokenizer.set_long_texts(LongTexts::windows, length, {.stride = stride});
  return tokenizer;
}

struct Row {
  std::vector<Id> ids;
  std::size_t second = 0;
};

Row encode(const AnyTokenizer& tokenizer, std::string_view text,
           std::optional<std::string_view> pair, const EncodeOptions& options = {}) {
  return tokenizer.visit([&](const auto& known) {
    typename std::decay_t<decltype(known)>::Scratch scratch;
    Row row;
    row.second = known.encode(text, pair, options, scratch, row.ids);
    return row;
  });
}

std::vector<std::vector<Id>> rows_of(const json::Value& array) {
  std::vector<std::vector<Id>> rows;
  for (const auto& row : array.items()) {
    rows.emplace_back();
    for (const auto& id : row.items()) rows.back().push_back(static_cast<Id>(id.integer()));
  }
  return rows;
}

TEST(Windows, AreThoseOfTransformers) {
  const auto document = json::Document::load(tests::golden() / "windows.json");
  std::size_t pairs = 0;
  for (const auto& record : document.root().items()) {
    const auto tokenizer = with_windows(record.at("tokenizer").string(),
                                        static_cast<std::size_t>(record.at("max_length").integer()),
                                        static_cast<std::size_t>(record.at("stride").integer()));
    const auto pair = record.find("pair");
    pairs += pair ? 1 : 0;
    const Row row = encode(tokenizer, record.at("text").string(),
                           pair ? std::optional{pair->string()} : std::nullopt);
    const auto expected = rows_of(record.at("windows"));
    const auto windows = windows_of(row.ids, row.second, tokenizer.windows().value());
    EXPECT_EQ(count_windows(row.ids.size(), row.second, *tokenizer.windows()), expected.size());
    ASSERT_EQ(windows.size(), expected.size()) << record.at("max_length").integer();
    for (std::size_t i = 0; i < windows.size(); ++i) {
      EXPECT_EQ(windows[i].input_ids, expected[i]);
      const auto again =
          windows_of(windows[i].input_ids, windows[i].second, tokenizer.windows().value());
      ASSERT_EQ(again.size(), 1u);
      EXPECT_EQ(again[0].input_ids, expected[i]);
      EXPECT_EQ(again[0].first_segment, windows[i].first_segment);
      EXPECT_EQ(again[0].second, windows[i].second);
      if (!pair) {
        EXPECT_EQ(windows[i].first_segment, expected[i].size());
        continue;
      }
      const auto types = rows_of(record.at("types"))[i];
      const auto zeros = static_cast<std::size_t>(std::ranges::find(types, 1) - types.begin());
      EXPECT_EQ(windows[i].first_segment, zeros);
    }
  }
  EXPECT_GT(document.root().items().size(), 60u);
  EXPECT_GT(pairs, 25u);
}

std::string words(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += i % 3 == 0 ? "river " : "the bridge ";
  return text;
}

TEST(Windows, OfAPairHaveAllIdsOfTheLongerTextAndTheBeginningOfTheOther) {
  for (const char* name : {"bert", "roberta"}) {
    for (const auto& [first, second] : {std::pair{3, 40},
                                        {40, 3},
                                        {30, 40},
                                        {40, 30},
                                        {25, 25},
                                        {0, 40},
                                        {40, 0},
                                        {1, 1},
                                        {6, 6},
                                        {5, 7},
                                        {9, 4}}) {
      for (const auto& [length, stride] : {std::pair{16, 0}, {16, 5}, {17, 11}, {24, 7}}) {
        const auto tokenizer =
            with_windows(name, static_cast<std::size_t>(length), static_cast<std::size_t>(stride));
        const auto settings = tokenizer.windows().value();
        settings.validate();
        const Row whole = encode(tokenizer, words(static_cast<std::size_t>(first)),
                                 words(static_cast<std::size_t>(second)));
        const auto ids_of = [&](int count) {
          return encode(tokenizer, words(static_cast<std::size_t>(count)), {},
                        {.add_special_tokens = false})
              .ids;
        };
        const auto one = ids_of(first), other = ids_of(second);
        const auto& longer = one.size() > other.size() ? one : other;
        const auto& shorter = one.size() > other.size() ? other : one;
        std::size_t covered = 0;
        const auto windows = windows_of(whole.ids, whole.second, settings);
        EXPECT_EQ(count_windows(whole.ids.size(), whole.second, settings), windows.size());
        for (const Window& window : windows) {
          const std::size_t common = &window == &windows.front() ? 0 : settings.stride;
          EXPECT_EQ(window.begin + common, covered);
          covered = window.end;
          EXPECT_LE(window.input_ids.size(), settings.length);
          const auto& ids = window.input_ids;
          const auto& special = settings.templates.pair;
          const std::size_t kept =
              ids.size() - special.special_tokens() - (window.end - window.begin);
          const std::size_t room = settings.length - special.special_tokens();
          EXPECT_EQ(kept, std::min(shorter.size(), std::max((room - settings.stride) / 2,
                                                            room - std::min(room, longer.size()))));
          const auto part = std::span{longer}.subspan(window.begin, window.end - window.begin);
          const auto beginning = std::span{shorter}.first(kept);
          std::vector<Id> expected = special.before;
          const auto append = [&](const auto& more) {
            expected.insert(expected.end(), more.begin(), more.end());
          };
          window.of_second ? append(beginning) : append(part);
          append(special.between);
          window.of_second ? append(part) : append(beginning);
          append(special.after);
          EXPECT_EQ(ids, expected) << name << " " << first << " " << second << " " << length;
        }
        EXPECT_EQ(covered, longer.size());
      }
    }
  }
}

/// Windows with a special token at each end of a text.
Windows around(std::size_t length, std::size_t stride = 0) {
  return {
      .length = length, .stride = stride, .templates = {.single = {.before = {1}, .after = {2}}}};
}

TEST(Windows, NeedTheSpecialTokensOfATextThatIsCut) {
  const std::vector<Id> ids{1};
  EXPECT_EQ(tests::problem_of([&] { (void)windows_of(ids, ids.size(), around(4)); }),
            "a text needs its special tokens to be cut");
}

TEST(Windows, OfAPairNeedRoomForNewIds) {
  const auto tokenizer = with_windows("bert", 24, 21);
  const auto settings = tokenizer.windows().value();
  settings.validate();
  const Row row = encode(tokenizer, words(3), words(30));
  const Row single = encode(tokenizer, words(30), {});
  EXPECT_GT(windows_of(single.ids, single.second, settings).size(), 20u);
  EXPECT_NE(tests::problem_of([&] {
              (void)windows_of(row.ids, row.second, settings);
            }).find("stride: 21 leaves no room for new ids in a window of 24, 3 of them special"),
            std::string::npos);
}

TEST(Windows, NeedRoomForNewIds) {
  const auto problem = [](std::size_t length, std::size_t stride) {
    return tests::problem_of([&] { around(length, stride).validate(); });
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
