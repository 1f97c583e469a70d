#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/pre_tokenizers/ascii_words.hpp>

namespace seqtrain::text {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view spaces = " \t\n\r";
constexpr std::string_view ascii_marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

Words words_of(std::string_view text, bool lowercase = false) {
  AsciiWords scanner;
  Words result;
  while (!text.empty()) {
    std::size_t done = scanner.scan(text, lowercase);
    for (std::size_t i = 0; i < scanner.size(); ++i) result.emplace_back(scanner[i]);
    if (done == 0) {
      done = AsciiWords::word_end(text);
      result.emplace_back(text.substr(0, done));
    }
    text.remove_prefix(done);
  }
  return result;
}

Words plain_words_of(std::string_view text) {
  Words result;
  bool in_word = false;
  for (const char c : text) {
    const bool mark = ascii_marks.find(c) != ascii_marks.npos;
    const bool part = !mark && spaces.find(c) == spaces.npos;
    if (mark || (part && !in_word)) result.emplace_back();
    if (mark || part) result.back() += c;
    in_word = part;
  }
  return result;
}

TEST(AsciiWords, CutsAtSpacesAndMarks) {
  EXPECT_EQ(words_of("no, don't\tstop."), (Words{"no", ",", "don", "'", "t", "stop", "."}));
  EXPECT_EQ(words_of(" \r\n"), Words{});
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of("naïve\x01x"), (Words{"naïve\x01x"}));
}

TEST(AsciiWords, LowersAsciiAlone) {
  EXPECT_EQ(words_of("ÉA Zz[@", true), (Words{"Éa", "zz", "[", "@"}));
  EXPECT_EQ(words_of("AZ"), Words{"AZ"});
}

TEST(AsciiWords, KnowsEveryByteInEveryPlace) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (std::size_t before = 0; before < 70; ++before) {
      const std::string text =
          std::string(before, 'x') + static_cast<char>(byte) + std::string(3, 'y');
      ASSERT_EQ(words_of(text), plain_words_of(text)) << byte << " after " << before;
    }
  }
}

TEST(AsciiWords, CutsLongTextsAnywhere) {
  std::mt19937 random{3};
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 6000, 'a');
    const unsigned rarity = 1u << random() % 13;
    for (char& c : text) {
      if (random() % rarity == 0) c = " ,\xC3.\n"[random() % 5];
    }
    ASSERT_EQ(words_of(text), plain_words_of(text)) << round;
  }
}

TEST(AsciiWords, WideAndPlainClassesAgree) {
  std::mt19937 random{4};
  for (int round = 0; round < 2000; ++round) {
    std::array<char, 64> in, wide, plain;
    for (char& c : in) c = static_cast<char>(random());
    for (const bool lowercase : {false, true}) {
      const ByteClasses expected = classify_plain(in.data(), plain.data(), lowercase);
      const ByteClasses classes = classify(in.data(), wide.data(), lowercase);
      ASSERT_EQ(classes.word, expected.word);
      ASSERT_EQ(classes.punctuation, expected.punctuation);
      ASSERT_EQ(wide, plain);
    }
  }
}

}  // namespace
}  // namespace seqtrain::text
