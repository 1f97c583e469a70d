#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace seqtrain::text {

/// The rule by which a byte-level splitter cuts a text into words.
enum class WordPattern {
  gpt2,
  gpt2_digits,  ///< each digit is a word, and GPT-2's rule cuts the text between digits: SmolLM2
  gpt4,         ///< words of up to three digits: GPT-4, Llama 3, OLMo 2
  qwen2         ///< GPT-4's, with words of one digit: Qwen2 and Qwen3
};

/// The regular expressions of published tokenizers, with the rule that each stands for.
inline constexpr std::array<std::pair<std::string_view, WordPattern>, 5> word_pattern_regexes{{
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
     WordPattern::gpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
     WordPattern::gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordPattern::gpt4},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}|)"
     R"( ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     WordPattern::gpt4},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordPattern::qwen2},
}};

/// Returns the rule that a regular expression stands for, or nothing if it is none of
/// `word_pattern_regexes`.
[[nodiscard]] constexpr std::optional<WordPattern> find_word_pattern(std::string_view regex) {
  for (const auto& [text, pattern] : word_pattern_regexes) {
    if (text == regex) return pattern;
  }
  return {};
}

}  // namespace seqtrain::text
