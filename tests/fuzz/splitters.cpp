#include <string>

#include <seqtrain/text/normalizers/bert_normalizer.hpp>
#include <seqtrain/text/pre_tokenizers/bert_splitter.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level.hpp>

#include "fuzz.hpp"

/// The byte-level splitter must lose nothing. BERT's normalizer must give valid text, and its
/// splitter must lose only whitespace.
void seqtrain::fuzz::run(Input input) {
  const auto flags = input.take();
  const auto text = input.text();
  if (!text::is_valid_utf8(text)) return;
  using enum text::WordPattern;
  for (const auto pattern : {gpt2, gpt2_digits, gpt4, qwen2}) {
    std::string joined;
    text::ByteLevelSplitter{.pattern = pattern}.for_each_word(text, [&](std::string_view word) {
      require(!word.empty());
      joined += word;
    });
    require(joined == text);
  }

  const text::BertNormalizer normalizer{.clean_text = (flags & 1) != 0,
                                        .handle_chinese_chars = (flags & 2) != 0,
                                        .lowercase = (flags & 4) != 0,
                                        .strip_accents = (flags & 8) != 0};
  std::string normal;
  normalizer.normalize(text, normal);
  require(text::is_valid_utf8(normal));
  std::size_t end = 0;
  text::BertSplitter{}.for_each_word(normal, [&](std::string_view word) {
    const auto begin = static_cast<std::size_t>(word.data() - normal.data());
    require(!word.empty() && begin >= end);
    while (end < begin) require(text::is_whitespace(text::decode(normal, end)));
    end = begin + word.size();
  });
}
