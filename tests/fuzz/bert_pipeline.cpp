#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <seqtrain/text/bert_pipeline.hpp>
#include <seqtrain/text/tokens.hpp>

#include "fuzz.hpp"

namespace {

using namespace seqtrain::text;

/// A model whose vocabulary has letters and pairs of letters, as whole words and as ends of words,
/// and some characters beyond ASCII.
const WordPiece& model() {
  static const WordPiece instance = [] {
    std::vector<std::string> tokens{"[UNK]"};
    for (char first = 'a'; first <= 'z'; ++first) {
      for (const std::string second : {"", "a", "e", "s", "t"}) {
        tokens.push_back(first + second);
        tokens.push_back("##" + tokens.back());
      }
    }
    for (const char* other : {"A", "B", "1", "23", ".", "'", "\u00e9", "##\u00e9", "\u4e2d"}) {
      tokens.emplace_back(other);
    }
    std::vector<WordPiece::Entry> entries;
    for (const auto& token : tokens) entries.emplace_back(token, static_cast<Id>(entries.size()));
    return WordPiece{entries, {.max_characters = 20}};
  }();
  return instance;
}

/// A pipeline and its parts. Their working memory lasts over all inputs.
struct Pair {
  BertPipeline pipeline;
  BertPipeline::Plain plain;
  BertPipeline::Scratch scratch = {};
  BertPipeline::Plain::Scratch plain_scratch = {};

  explicit Pair(const BertNormalizer& normalizer)
      : pipeline{normalizer, BertSplitter{}, model()}, plain{normalizer, BertSplitter{}, model()} {}
};

/// Returns the pair for these flags. Each flag turns on one step of the normalizer.
Pair& pair(unsigned flags) {
  static std::map<unsigned, Pair> pairs;
  const BertNormalizer normalizer{.clean_text = (flags & 1) != 0,
                                  .handle_chinese_chars = (flags & 2) != 0,
                                  .lowercase = (flags & 4) != 0,
                                  .strip_accents = (flags & 8) != 0};
  return pairs.try_emplace(flags, normalizer).first->second;
}

/// The tokens of a text must have its ids and must follow each other in the text.
void check_tokens(const BertPipeline& pipeline, std::string_view text,
                  const std::vector<Id>& expected) {
  const std::vector<std::string> names(400, "##a");
  TokenCollector<BertPipeline> collector{pipeline, text, names, false};
  collector.add_stretch(text, AddedTokens{});
  const auto tokens = std::move(collector).take();
  seqtrain::fuzz::require(std::ranges::equal(tokens, expected, {}, &Token::id));
  std::size_t last = 0;
  for (const Token& token : tokens) {
    if (!token.begin) continue;
    seqtrain::fuzz::require(last <= *token.begin && *token.begin <= *token.end);
    seqtrain::fuzz::require(token.text == text.substr(*token.begin, *token.end - *token.begin));
    seqtrain::fuzz::require(is_valid_utf8(token.text));
    last = *token.begin;
  }
}

}  // namespace

/// The ids of the pipeline must equal those of its parts run one after the other, at any limit and
/// whatever the working memory holds from earlier inputs.
void seqtrain::fuzz::run(Input input) {
  const auto flags = input.take();
  const std::size_t limit = input.take() % 16;
  const auto text = input.text();
  if (!is_valid_utf8(text)) return;
  auto& [pipeline, plain, scratch, plain_scratch] = pair(flags % 16);
  constexpr auto all = std::numeric_limits<std::size_t>::max();
  std::vector<Id> expected, ids, limited;
  plain.encode(text, all, plain_scratch, expected);
  for (int pass = 0; pass < 2; ++pass) {  // the second pass uses the cache
    ids.clear();
    pipeline.encode(text, all, scratch, ids);
    require(ids == expected);
  }
  check_tokens(pipeline, text, expected);
  pipeline.encode(text, limit, scratch, limited);
  require(limited.size() >= std::min(limit, expected.size()));
  require(limited.size() <= expected.size());
  require(std::equal(limited.begin(), limited.end(), expected.begin()));
}
