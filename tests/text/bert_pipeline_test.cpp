#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/bert_pipeline.hpp>

#include "support/bert_golden.hpp"

namespace seqtrain::text {
namespace {

using Ids = std::vector<Id>;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

class BertPipelineTest : public testing::Test {
 protected:
  [[nodiscard]] BertPipeline pipeline(const BertNormalizer& normalizer) const {
    return {normalizer, {}, model_};
  }
  [[nodiscard]] BertPipeline::Plain plain(const BertNormalizer& normalizer) const {
    return {normalizer, {}, model_};
  }

  template <class Pipeline>
  static Ids encode(const Pipeline& pipeline, std::string_view text,
                    typename Pipeline::Scratch& scratch, std::size_t limit = unlimited) {
    Ids ids;
    pipeline.encode(text, limit, scratch, ids);
    return ids;
  }

  void expect_as_plain(const BertNormalizer& normalizer, const std::vector<std::string>& texts) {
    const auto tested = pipeline(normalizer);
    const auto reference = plain(normalizer);
    for (const std::string& text : texts) {
      const Ids expected = encode(reference, text, plain_scratch_);
      for (const char* pass : {"cold", "warm"}) {
        ASSERT_EQ(encode(tested, text, scratch_), expected) << pass << ": " << text;
      }
    }
  }

  tests::BertGolden golden_;
  WordPiece model_{golden_.vocabulary()};
  BertPipeline::Scratch scratch_;
  BertPipeline::Plain::Scratch plain_scratch_;
};

/// Returns texts of random characters, drawn from sets of characters that special rules apply to.
std::vector<std::string> random_texts(int count) {
  const std::vector<std::u32string> pools{U"abcdefgh ",
                                          U"XYZABC",
                                          U".,#!'",
                                          {U"\0\t\n\v\f\r\u0085\u00A0\uFFFD\u200D\u3000\x7F", 12},
                                          U"éàüñçøßİıΣσς",
                                          U"中文字\uF900\u3000。、，",
                                          U"\u0301\u0323\u0345\u302E\u200D\U0001D165",
                                          U"한글각\u1100\u1161",
                                          U"😀\uFE0F👩",
                                          U"“”–—…·\u037E\u0387\u1FEF\u226E\u2260",
                                          U"かなカナ\u3099"};
  std::mt19937 random{17};
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    const std::u32string mixed = pools[random() % pools.size()] + pools[random() % pools.size()] +
                                 pools[random() % pools.size()];
    std::string text;
    const std::size_t size = random() % (i % 100 == 0 ? 3000 : 40);
    for (std::size_t k = 0; k < size; ++k) append_utf8(text, mixed[random() % mixed.size()]);
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  while (times-- > 0) text += part;
  return text;
}

TEST_F(BertPipelineTest, TextsHaveThePackagesIds) {
  int compared = 0;
  for (const auto& expected : golden_.cases()) {
    const auto tested = pipeline(expected.normalizer);
    for (std::size_t i = 0; i < expected.ids.size(); ++i, ++compared) {
      EXPECT_EQ(encode(tested, golden_.texts()[i], scratch_), expected.ids[i]);
    }
  }
  EXPECT_GT(compared, 150);
}

TEST_F(BertPipelineTest, CodePointsHaveThePackagesIdsInEveryPlace) {
  int compared = 0;
  for (const auto& expected : golden_.cases()) {
    if (expected.sweep.empty()) continue;
    const auto tested = pipeline(expected.normalizer);
    const auto sweep = tests::BertGolden::sweep(
        [&](std::string_view text, Ids& ids) { tested.encode(text, unlimited, scratch_, ids); });
    EXPECT_EQ(sweep, expected.sweep);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

TEST_F(BertPipelineTest, HostileTextsHaveThePlainIdsUnderEverySetting) {
  const auto texts = random_texts(400);
  for (const auto& expected : golden_.cases()) {
    expect_as_plain(expected.normalizer, golden_.texts());
    expect_as_plain(expected.normalizer, texts);
  }
}

TEST_F(BertPipelineTest, LongStretchesHaveThePlainIds) {
  std::vector<std::string> texts;
  for (const char* part : {"a", "A", "aB", " ", ".", "é", "É中", "中", "\u0301", "😀", "İ", "a\x01",
                           "abcdefghijklmn ", "ABCDEFGHIJKLMNOP,", "x。", "\u302E\u0323"}) {
    for (const std::size_t times : {100u, 101u, 1024u, 2048u, 3000u}) {
      texts.push_back(repeated(part, times));
      texts.push_back("un" + repeated(part, times) + "do");
    }
  }
  expect_as_plain({}, texts);
  expect_as_plain({.clean_text = false, .lowercase = false}, texts);
}

TEST_F(BertPipelineTest, StopsSoonAfterItsLimit) {
  const auto tested = pipeline({});
  for (const char* part : {"hello world ", "中", "a😀b"}) {
    const std::string text = repeated(part, 4000);
    const Ids all = encode(tested, text, scratch_);
    for (const std::size_t limit : {1u, 16u, 128u, 512u}) {
      const Ids some = encode(tested, text, scratch_, limit);
      ASSERT_GE(some.size(), std::min<std::size_t>(limit, all.size()));
      EXPECT_LT(some.size(), limit + 2000);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
    }
  }
  EXPECT_EQ(encode(tested, "hello", scratch_, 0), Ids{});
}

TEST_F(BertPipelineTest, OneScratchServesSeveralPipelines) {
  const auto lower = pipeline({});
  const auto cased = pipeline({.lowercase = false});
  const Ids lowered = encode(plain({}), "café", plain_scratch_);
  const Ids kept = encode(plain({.lowercase = false}), "café", plain_scratch_);
  ASSERT_NE(lowered, kept);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(encode(lower, "café", scratch_), lowered);
    EXPECT_EQ(encode(cased, "café", scratch_), kept);
  }
}

TEST_F(BertPipelineTest, ThreadsShareIt) {
  const auto texts = random_texts(300);
  const auto tested = pipeline({});
  std::vector<Ids> expected;
  for (const auto& text : texts) expected.push_back(encode(tested, text, scratch_));
  std::vector<int> wrong(4);
  std::vector<std::jthread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      BertPipeline::Scratch scratch;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        count += encode(tested, texts[i], scratch) != expected[i];
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
}  // namespace seqtrain::text
