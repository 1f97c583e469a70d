#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include <seqtrain/text/loading/tokenizer_json.hpp>

#include "fuzz.hpp"

namespace {

using namespace seqtrain;

/// Checks the promises of a tokenizer that was accepted.
void use(const auto& tokenizer) {
  typename std::decay_t<decltype(tokenizer)>::Scratch scratch;
  const std::string_view texts[] = {"", "Hello, World's [MASK]<mask> caf\u00e9 \u4e2d!", "  a\n\n"};
  for (const auto text : texts) {
    std::vector<text::Id> all;
    tokenizer.encode(text, {}, {}, scratch, all);
    if constexpr (requires { tokenizer.tokens(text, true); }) {
      const auto tokens = tokenizer.tokens(text, true);
      fuzz::require(std::ranges::equal(tokens, all, {}, &text::Token::id));
      for (const auto& token : tokens) fuzz::require(token.end.value_or(0) <= text.size());
    }
    for (const std::size_t max_length : {std::size_t{3}, std::size_t{7}, std::size_t{100}}) {
      std::vector<text::Id> ids;
      const auto first = tokenizer.encode(text, texts[1], {.max_length = max_length}, scratch, ids);
      fuzz::require(first <= ids.size() && ids.size() <= max_length);
      for (const auto id : ids) {
        fuzz::require(id >= 0 && static_cast<std::size_t>(id) < tokenizer.vocab_size());
      }
    }
  }
}

}  // namespace

void seqtrain::fuzz::run(Input input) {
  accepts([&] {
    const auto document = json::Document::parse(input.text(), "fuzz");
    const text::TokenizerFolder no_folder{"/nowhere"};
    std::visit([](const auto& tokenizer) { use(tokenizer); },
               text::TokenizerJson{document.root(), no_folder}.read());
  });
}
