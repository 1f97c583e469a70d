#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/long_texts.hpp"
#include "support/problem_of.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

struct Encoded {
  std::vector<Id> ids;
  std::size_t type_zero;

  bool operator==(const Encoded&) const = default;
};

template <Tokenizer T>
Encoded encode(const T& tokenizer, std::string_view text, std::optional<std::string_view> pair = {},
               const EncodeOptions& options = {}) {
  typename T::Scratch scratch;
  Encoded result{};
  result.type_zero = tokenizer.encode(text, pair, options, scratch, result.ids);
  return result;
}

AnyTokenizer load(const std::string& name) {
  return load_tokenizer(tests::golden() / "tokenizers" / name);
}

/// Calls `check(text, pair, options, expected)` for each answer of the reference.
template <class Check>
void for_each_case(const std::string& name, Check&& check) {
  const auto file = tests::golden() / "tokenizers" / name / "expected.json";
  const auto document = json::Document::load(file);
  const auto cases = document.root().items();
  ASSERT_GT(cases.size(), 100u);
  for (const auto& record : cases) {
    Encoded expected{};
    for (const auto& id : record.at("ids").items()) {
      expected.ids.push_back(static_cast<Id>(id.integer()));
    }
    const auto type_zero = record.find("type_zero");
    expected.type_zero =
        type_zero ? static_cast<std::size_t>(type_zero->integer()) : expected.ids.size();
    EncodeOptions options{.add_special_tokens = !record.find("special")};
    if (const auto longest = record.find("max_length")) {
      options.max_length = static_cast<std::size_t>(longest->integer());
    }
    const auto pair = record.find("pair");
    check(record.at("text").string(), pair ? std::optional{pair->string()} : std::nullopt, options,
          expected);
  }
}

class Golden : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Golden, IdsAndTypesEqualTheReferences) {
  const auto [tokenizer_folder, expected_folder] = GetParam();
  load(tokenizer_folder).visit([&, name = expected_folder](const auto& tokenizer) {
    typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
    for_each_case(name, [&](auto text, auto pair, const auto& options, const Encoded& expected) {
      Encoded got{};
      got.type_zero = tokenizer.encode(text, pair, options, scratch, got.ids);
      EXPECT_EQ(got.ids, expected.ids) << text << " | " << pair.value_or("-");
      EXPECT_EQ(got.type_zero, expected.type_zero) << text << " | " << pair.value_or("-");
    });
  });
}

INSTANTIATE_TEST_SUITE_P(
    Tokenizers, Golden,
    testing::Values(std::pair{"roberta", "roberta"}, std::pair{"roberta_files", "roberta"},
                    std::pair{"deberta_files", "deberta_files"}, std::pair{"esm", "esm"},
                    std::pair{"esm_odd", "esm_odd"}, std::pair{"gpt2", "gpt2"},
                    std::pair{"ambiguous", "ambiguous"},
                    std::pair{"ignore_merges", "ignore_merges"}, std::pair{"bert", "bert"},
                    std::pair{"bert_files", "bert"}, std::pair{"bert_cased", "bert_cased"},
                    std::pair{"bert_lowered_tokens", "bert_lowered_tokens"}),
    [](const auto& tested) { return std::string{tested.param.first}; });

TEST(Tokenizer, AppendsToWhatIsThere) {
  load("bert").visit([](const auto& tokenizer) {
    const Encoded alone = encode(tokenizer, "the river", "runs");
    typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
    std::vector<Id> ids{7, 8};
    EXPECT_EQ(tokenizer.encode("the river", "runs", {}, scratch, ids), alone.type_zero);
    EXPECT_EQ(std::vector<Id>(ids.begin() + 2, ids.end()), alone.ids);
    EXPECT_EQ(ids[0], 7);
    EXPECT_EQ(ids[1], 8);
  });
}

TEST(Tokenizer, LongTextsKeepTheIdsThatTransformersKeeps) {
  const auto document = json::Document::load(tests::golden() / "long_texts.json");
  ASSERT_GT(document.root().items().size(), 80u);
  for (const auto& record : document.root().items()) {
    const auto way = std::ranges::find(tests::ways_of_long_texts, record.at("way").string(),
                                       &std::pair<std::string, LongTexts>::first);
    ASSERT_NE(way, tests::ways_of_long_texts.end());
    const auto max_length = static_cast<std::size_t>(record.at("max_length").integer());
    std::vector<Id> expected;
    for (const auto& id : record.at("ids").items()) {
      expected.push_back(static_cast<Id>(id.integer()));
    }
    AnyTokenizer tokenizer = load(std::string{record.at("tokenizer").string()});
    const auto pair = record.find("pair");
    const auto ids = [&](const EncodeOptions& options) {
      return tokenizer.visit([&](const auto& known) {
        return encode(known, record.at("text").string(),
                      pair ? std::optional{pair->string()} : std::nullopt, options)
            .ids;
      });
    };
    EXPECT_EQ(ids({.max_length = max_length, .long_texts = way->second}), expected)
        << way->first << " " << max_length;
    tokenizer.set_long_texts(way->second);
    EXPECT_EQ(ids({.max_length = max_length}), expected) << way->first << " " << max_length;
  }
}

/// Returns the ids that a text keeps.
std::vector<Id> kept_of(const std::vector<Id>& ids, std::size_t kept, LongTexts way) {
  std::size_t head = kept;
  if (way == LongTexts::tail) head = 0;
  if (way == LongTexts::head_tail) head = (kept + 2) / 4;
  std::vector<Id> result(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(head));
  result.insert(result.end(), ids.end() - static_cast<std::ptrdiff_t>(kept - head), ids.end());
  return result;
}

TEST(Tokenizer, HeadAndTailAreThoseOfThePaper) {
  load("bert").visit([](const auto& tokenizer) {
    std::string text;
    for (int i = 0; i < 600; ++i) text += i < 128 ? "a " : i < 600 - 382 ? "b " : "c ";
    const auto ids =
        encode(tokenizer, text, {}, {.max_length = 512, .long_texts = LongTexts::head_tail}).ids;
    ASSERT_EQ(ids.size(), 512u);
    EXPECT_EQ(ids[128], encode(tokenizer, "a").ids[1]);
    EXPECT_EQ(ids[129], encode(tokenizer, "c").ids[1]);
  });
}

/// Checks that the ids of a text that is cut do not depend on how far it is encoded.
TEST(Tokenizer, StoppingEarlyGivesTheSameAsCuttingAll) {
  std::mt19937 random{5};
  const std::vector<std::string> parts{"the ", "bridge ", "x",  "<mask>",
                                       " 's",  "[SEP]",   "日", ", "};
  const auto draw = [&] {
    std::string text;
    for (auto left = random() % 24; left > 0; --left) text += parts[random() % parts.size()];
    return text;
  };
  for (const char* name : {"roberta", "bert", "bert_cased"}) {
    load(name).visit([&](const auto& tokenizer) {
      for (int round = 0; round < 60; ++round) {
        const std::string first = draw();
        const std::string second = draw();
        const std::size_t budget = random() % 20;
        const auto a = encode(tokenizer, first, {}, {.add_special_tokens = false}).ids;
        const auto b = encode(tokenizer, second, {}, {.add_special_tokens = false}).ids;
        const auto kept = longest_first({a.size(), b.size()}, budget);
        for (const auto& [way_name, way] : tests::ways_of_long_texts) {
          auto expected = kept_of(a, kept.first, way);
          std::ranges::copy(kept_of(b, kept.second, way), std::back_inserter(expected));
          const EncodeOptions options{
              .max_length = budget, .add_special_tokens = false, .long_texts = way};
          ASSERT_EQ(encode(tokenizer, first, second, options).ids, expected) << way_name;
          ASSERT_EQ(encode(tokenizer, first, {}, options).ids,
                    kept_of(a, std::min(a.size(), budget), way))
              << way_name;
        }
      }
    });
  }
}

TEST(Tokenizer, CutsOnlyTheFirstTextOfAPairIfItIsAskedTo) {
  for (const char* name : {"roberta", "bert"}) {
    load(name).visit([](const auto& tokenizer) {
      const std::string first = "the river ran under the bridge and the children ran";
      const auto ids = [&](std::string_view second, std::size_t max_length) {
        return encode(tokenizer, first, second,
                      {.max_length = max_length,
                       .add_special_tokens = false,
                       .long_texts = LongTexts::only_first})
            .ids;
      };
      const auto a = encode(tokenizer, first, {}, {.add_special_tokens = false}).ids;
      const std::string_view second = "where did the children run";
      const auto b = encode(tokenizer, second, {}, {.add_special_tokens = false}).ids;
      for (std::size_t budget = b.size() + 1; budget <= a.size() + b.size(); ++budget) {
        std::vector<Id> expected{
            a.begin(), a.begin() + std::ssize(a) -
                           (std::ssize(a) + std::ssize(b) - static_cast<std::ptrdiff_t>(budget))};
        expected.insert(expected.end(), b.begin(), b.end());
        EXPECT_EQ(ids(second, budget), expected) << budget;
      }
      for (const std::size_t budget : {b.size() - 1, b.size()}) {  // none, and none for the first
        EXPECT_EQ(tests::problem_of([&] { (void)ids(second, budget); }),
                  "the second text of the pair, such as a hypothesis about a label, takes all " +
                      std::to_string(budget) +
                      " ids and must not be cut; make it shorter, or allow more ids by max_length");
      }
      EXPECT_EQ(
          encode(tokenizer, first, {}, {.max_length = 5, .long_texts = LongTexts::only_first}),
          encode(tokenizer, first, {}, {.max_length = 5, .long_texts = LongTexts::truncate}));
    });
  }
}

TEST(Tokenizer, AMegabyteIsTruncated) {
  std::string long_text;
  while (long_text.size() < 1'000'000) long_text += "and the other thing ";
  for (const char* name : {"roberta", "bert"}) {
    load(name).visit([&](const auto& tokenizer) {
      EXPECT_EQ(encode(tokenizer, long_text, "the river", {.max_length = 128}).ids.size(), 128u);
      EXPECT_EQ(encode(tokenizer, std::string(1'000'000, 'a'), {}, {.max_length = 128}).ids.back(),
                encode(tokenizer, "x").ids.back());
    });
  }
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8AndLengthsWithoutRoom) {
  load("roberta").visit([](const auto& tokenizer) {
    EXPECT_THROW(encode(tokenizer, "ab\xFF"), InputError);
    EXPECT_THROW(encode(tokenizer, "ab", "\xED\xA0\x80"), InputError);
    EXPECT_THROW(encode(tokenizer, "ab", {}, {.max_length = 1}), InputError);
    EXPECT_THROW(encode(tokenizer, "ab", "cd", {.max_length = 3}), InputError);
    EXPECT_EQ(encode(tokenizer, "ab", "cd", {.max_length = 4}).ids, (std::vector<Id>{0, 2, 2, 2}));
    EXPECT_EQ(tokenizer.special_tokens(false), 2u);
    EXPECT_EQ(tokenizer.special_tokens(true), 4u);
  });
}

TEST(Tokenizer, ThreadsShareOneAndGetTheSame) {
  load("roberta").visit([](const auto& tokenizer) {
    std::vector<int> wrong(4);
    std::vector<std::thread> threads;
    for (int& count : wrong) {
      threads.emplace_back([&] {
        typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
        for_each_case("roberta", [&](auto text, auto pair, const auto& options, const auto& want) {
          std::vector<Id> ids;
          tokenizer.encode(text, pair, options, scratch, ids);
          count += ids == want.ids ? 0 : 1;
        });
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4));
  });
}

}  // namespace
}  // namespace seqtrain::text
