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

/// A text's blocks of 64 bytes, as a function that classifies copies them, and their classes.
struct Blocks {
  std::string bytes;
  std::vector<ByteClasses> classes;

  explicit Blocks(std::size_t size)
      : bytes((size + 63) / 64 * 64, '\0'), classes(bytes.size() / 64) {}
  bool operator==(const Blocks&) const = default;
};

Blocks plain_blocks_of(std::string text, bool lowercase) {
  Blocks blocks{text.size()};
  text.resize(blocks.bytes.size(), ' ');
  for (std::size_t i = 0; i < blocks.classes.size(); ++i) {
    blocks.classes[i] = classify_plain(&text[64 * i], &blocks.bytes[64 * i], lowercase);
  }
  return blocks;
}

TEST(AsciiWords, WideAndPlainClassesAgree) {
  std::mt19937 random{4};
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 300, ' ');
    for (char& c : text) c = static_cast<char>(random());
    for (const bool lowercase : {false, true}) {
      Blocks blocks{text.size()};
      classify(text, blocks.bytes.data(), lowercase, blocks.classes.data());
      ASSERT_EQ(blocks, plain_blocks_of(text, lowercase)) << text.size();
    }
  }
}

#if defined(__x86_64__)
TEST(AsciiWords, ClassesOfOlderProcessorsAgree) {
  std::mt19937 random{5};
  for (int round = 0; round < 2000; ++round) {
    std::string text(64, ' ');
    for (char& c : text) c = static_cast<char>(random());
    for (const bool lowercase : {false, true}) {
      Blocks blocks{64};
      blocks.classes[0] = classify_sse2(text.data(), blocks.bytes.data(), lowercase);
      ASSERT_EQ(blocks, plain_blocks_of(text, lowercase));
    }
  }
}
#endif

}  // namespace
}  // namespace seqtrain::text
