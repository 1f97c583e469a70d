#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::tests {

/// A tokenizer for tests: every byte is its own id, a text is [300] a [301], a pair [300] a [301] b
/// [301], and padding is 302. It cuts texts at the end.
struct LetterTokenizer {
  struct Scratch {};

  static constexpr text::Id begin = 300;
  static constexpr text::Id separator = 301;

  std::size_t encode(std::string_view text, std::optional<std::string_view> pair,
                     text::EncodeOptions options, Scratch&, std::vector<text::Id>& out) const {
    const std::size_t before = out.size();
    const auto add = [&out](std::string_view part) {
      for (const char c : part) out.push_back(static_cast<unsigned char>(c));
      out.push_back(separator);
    };
    out.push_back(begin);
    add(text);
    const std::size_t first_segment = out.size() - before;
    if (pair) add(*pair);
    out.resize(before + std::min(out.size() - before, options.max_length));
    return std::min(first_segment, out.size() - before);
  }
  [[nodiscard]] std::size_t vocab_size() const { return vocabulary; }
  [[nodiscard]] text::Id pad_id() const { return 302; }
  [[nodiscard]] std::size_t special_tokens(bool pair) const { return pair ? 3 : 2; }

  std::size_t vocabulary = 303;
};

static_assert(text::Tokenizer<LetterTokenizer>);

}  // namespace seqtrain::tests
