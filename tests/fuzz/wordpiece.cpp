#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/text/models/wordpiece.hpp>

#include "fuzz.hpp"

namespace {

using namespace seqtrain::text;
using Entries = std::vector<WordPiece::Entry>;

/// Encodes by the definition: the longest piece at each place, or one unknown token if there is
/// none.
std::vector<Id> encode_plainly(const Entries& vocabulary, std::string_view word,
                               std::size_t max_characters) {
  std::map<std::string, Id> ids;
  for (const auto& [token, id] : vocabulary) ids[std::string{token}] = id;
  if (count_characters(word) > max_characters) return {0};
  std::vector<Id> result;
  for (std::size_t begin = 0; begin < word.size();) {
    std::size_t size = word.size() - begin;
    const auto piece = [&] {
      return (begin > 0 ? "##" : "") + std::string{word.substr(begin, size)};
    };
    while (size > 0 && !ids.contains(piece())) --size;
    if (size == 0) return {0};
    result.push_back(ids[piece()]);
    begin += size;
  }
  return result;
}

}  // namespace

/// The first line holds the tokens of a vocabulary; every other line is a word.
void seqtrain::fuzz::run(Input input) {
  const std::size_t max_characters = input.take();
  if (!is_valid_utf8(input.text())) return;
  Entries vocabulary{{"[UNK]", 0}};
  std::vector<std::string_view> words;
  bool first_line = true;
  for (auto rest = input.text(); !rest.empty();) {
    const auto end = std::min(rest.find_first_of(" \n"), rest.size());
    const auto token = rest.substr(0, end);
    if (first_line && !token.empty() && token != "[UNK]") {
      vocabulary.emplace_back(token, static_cast<Id>(vocabulary.size()));
    }
    if (!first_line) words.push_back(token);
    if (end < rest.size() && rest[end] == '\n') first_line = false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const WordPiece model{vocabulary, {.max_characters = max_characters}};
  for (const auto word : words) {
    if (word.size() > 300) continue;  // the plain version takes quadratic time
    std::vector<Id> ids;
    model.encode_word(word, ids);
    require(ids == encode_plainly(vocabulary, word, max_characters));
  }
}
