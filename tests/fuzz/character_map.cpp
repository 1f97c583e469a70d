#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <seqtrain/text/normalizers/character_map.hpp>
#include <seqtrain/text/normalizers/sentence_piece_normalizer.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

#include "fuzz.hpp"

/// The input is a size, a text of that size, and a map. If the map is accepted, any text must stay
/// valid.
void seqtrain::fuzz::run(Input input) {
  using namespace seqtrain::text;
  using namespace std::string_view_literals;
  const std::size_t size = input.take();
  const auto given = input.text();
  const std::string_view text = given.substr(0, std::min(size, given.size()));
  const std::string_view bytes = given.substr(text.size());
  accepts([&] {
    const CharacterMap map{bytes};
    for (const std::string_view one : {text, "Aa \u00e9 e\u0301\r\n \u4e2d\0x"sv}) {
      if (!is_valid_utf8(one)) continue;
      std::string out;
      map.normalize(one, out);
      const SentencePieces pieces{{{.text = "<unk>", .type = SentencePiece::Type::unknown}}, false};
      SentencePieceNormalizer{{.characters = map}, pieces}.normalize(one, pieces, out);
      require(is_valid_utf8(out));
    }
  });
}
