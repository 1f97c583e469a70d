#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/text/models/bpe.hpp>

#include "fuzz.hpp"

namespace {

using namespace seqtrain::text;

/// A vocabulary of some bytes, and merges of earlier tokens.
struct Merges {
  static constexpr std::size_t bytes = 8;  // a to h

  std::vector<std::string> tokens = {"<unk>"};
  std::vector<std::pair<std::size_t, std::size_t>> pairs;

  explicit Merges(seqtrain::fuzz::Input& input) {
    for (std::size_t i = 0; i < bytes; ++i) tokens.push_back(byte_symbols()['a' + i]);
    std::set<std::string> known{tokens.begin(), tokens.end()};
    for (std::size_t count = input.take() % 64; count > 0; --count) {
      const std::size_t left = 1 + input.take() % (tokens.size() - 1);
      const std::size_t right = 1 + input.take() % (tokens.size() - 1);
      const auto joined = tokens[left] + tokens[right];
      if (joined.size() > 40 || !known.insert(joined).second) continue;
      pairs.emplace_back(left, right);
      tokens.push_back(joined);
    }
  }

  [[nodiscard]] Bpe model(const BpeOptions& options) const {
    std::vector<Bpe::Entry> entries;
    for (const auto& token : tokens) entries.emplace_back(token, static_cast<Id>(entries.size()));
    std::vector<Bpe::Pair> merges;
    for (const auto& [left, right] : pairs) merges.emplace_back(tokens[left], tokens[right]);
    return Bpe{entries, merges, options};
  }

  /// Merges by the definition: while two neighbours can merge, the first pair of the lowest rank
  /// does.
  void merge_all(std::vector<Id>& ids) const {
    for (std::size_t rank = 0; rank < pairs.size();) {
      const auto [left, right] = pairs[rank];
      const std::vector<Id> pair{static_cast<Id>(left), static_cast<Id>(right)};
      const auto at = std::search(ids.begin(), ids.end(), pair.begin(), pair.end());
      if (at == ids.end()) {
        ++rank;
        continue;
      }
      *at = static_cast<Id>(1 + bytes + rank);
      ids.erase(at + 1);
      rank = 0;
    }
  }
};

}  // namespace

void seqtrain::fuzz::run(Input input) {
  const auto flags = input.take();
  const bool has_unknown = (flags & 1) != 0;
  const bool fuse = (flags & 2) != 0;
  const Merges merges{input};
  const auto model = merges.model(
      {.unknown_token = has_unknown ? std::optional<std::string>{"<unk>"} : std::nullopt,
       .fuse_unknown = fuse});
  const auto word = input.text().substr(0, 400);
  std::vector<Id> expected;
  bool after_unknown = false;
  for (const char byte : word) {
    const bool known = 'a' <= byte && byte < 'a' + static_cast<int>(Merges::bytes);
    if (known) expected.push_back(static_cast<Id>(byte - 'a' + 1));
    if (!known && has_unknown && !(after_unknown && fuse)) expected.push_back(0);
    after_unknown = !known;
  }
  merges.merge_all(expected);
  std::vector<Id> ids;
  model.encode_word(word, ids);
  require(ids == expected);
}
