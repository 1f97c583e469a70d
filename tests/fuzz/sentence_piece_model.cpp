#include <cstddef>
#include <string_view>
#include <vector>

#include <seqtrain/text/loading/sentence_piece_model.hpp>

#include "fuzz.hpp"

/// A model that is accepted must give only ids of its vocabulary.
void seqtrain::fuzz::run(Input input) {
  using namespace seqtrain::text;
  accepts([&] {
    const auto pipeline = parse_sentence_piece_model(input.text()).pipeline();
    SentencePiecePipeline::Scratch scratch;
    for (const std::string_view text :
         {"", " The  river \u2026 \u0153uf \ufb01n \u4e2d <sym> ab  est ", "aaaaaaaa"}) {
      std::vector<Id> ids;
      pipeline.encode(text, 1, scratch, ids);
      for (const Id id : ids)
        require(id >= 0 && static_cast<std::size_t>(id) < pipeline.pieces().size());
    }
  });
}
