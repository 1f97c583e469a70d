#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/pre_tokenizers/byte_level_words.hpp>

namespace seqtrain::text {
namespace {

using Words = std::vector<std::string>;

constexpr WordPattern patterns[] = {WordPattern::gpt2, WordPattern::gpt2_digits, WordPattern::gpt4,
                                    WordPattern::qwen2};

Words by_rule(std::string_view text, WordPattern pattern) {
  Words words;
  ByteLevelSplitter{.pattern = pattern}.for_each_word(text,
                                                      [&](auto word) { words.emplace_back(word); });
  return words;
}

Words by_chunks(std::string_view text, WordPattern pattern) {
  ByteLevelWords scanned;
  Words words;
  while (!text.empty()) {
    std::size_t done = scanned.scan(text, pattern);
    for (std::size_t i = 0; done > 0 && i < scanned.size(); ++i) words.emplace_back(scanned[i]);
    if (done == 0) {
      done = ByteLevelSplitter::word_end(text, 0, pattern);
      words.emplace_back(text.substr(0, done));
    }
    text.remove_prefix(done);
  }
  return words;
}

TEST(ByteLevelClasses, EqualTheirPlainDefinitionForEveryByte) {
  std::array<char, 256 * 64> blocks;
  blocks.fill('x');
  for (std::size_t byte = 0; byte < 256; ++byte) {
    blocks[64 * byte + byte % 64] = static_cast<char>(byte);
  }
  std::array<ByteLevelClasses, 256> classes;
  classify_byte_level(blocks.data(), classes.size(), classes.data());
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char* const block = blocks.data() + 64 * byte;
    EXPECT_EQ(classes[byte], classify_byte_level_plain(block)) << byte;
#if defined(__x86_64__)
    EXPECT_EQ(classify_byte_level_sse2(block), classify_byte_level_plain(block)) << byte;
#endif
  }
}

TEST(ByteLevelWords, EqualTheRuleOnRandomText) {
  const Words parts{" ",      "  ",     "\n",   "\t\n",   "a",    "Word",   "'",
                    "'s",     "'ll",    "'re",  "7",      "2024", "!",      "...",
                    "\u00e9", "日本",   "²",    "½",      "🙂", "\u00a0", "'v",
                    "\u3000", "\u0301", "\x1c", "\u2019", "x's",  "''",     "\x7f"};
  std::mt19937 random{9};
  for (int round = 0; round < 4'000; ++round) {
    std::string text;
    const auto some = 1 + random() % parts.size();  // Few kinds of parts give long runs.
    for (auto left = random() % (round % 20 == 0 ? 3000 : 120); left > 0; --left) {
      text += parts[(random() % some + static_cast<unsigned>(round)) % parts.size()];
    }
    for (const WordPattern pattern : patterns) {
      ASSERT_EQ(by_chunks(text, pattern), by_rule(text, pattern)) << text;
    }
  }
}

TEST(ByteLevelWords, EqualTheRuleWhereverAChunkEnds) {
  const Words tails{"don't stop", "'re 's",  "   x", "\u3000\u3000\u3000x", "日本語 日本", " \n ",
                    "  ",         "\u00a0a", "''s",  "🙂🙂 🙂"};
  for (const auto& tail : tails) {
    for (std::size_t before = ByteLevelWords::chunk - 20; before < ByteLevelWords::chunk + 4;
         ++before) {
      for (const char* filler : {"ab ", "a", " ", "x'", "..", "1 "}) {
        std::string text;
        while (text.size() < before) text += filler;
        text.resize(before);
        text += tail + tail;
        for (const WordPattern pattern : patterns) {
          ASSERT_EQ(by_chunks(text, pattern), by_rule(text, pattern)) << before << tail;
        }
      }
    }
  }
}

}  // namespace
}  // namespace seqtrain::text
