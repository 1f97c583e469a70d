#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/double_array.hpp>
#include <seqtrain/text/models/sentence_pieces.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Cuts a whole text by the Viterbi algorithm as SentencePiece 0.2 does, including the rounding of
/// its sums: scores are added in single precision along the text, and when the best sum passes
/// 100,000 it is subtracted from all sums. `Unigram` follows Hugging Face's package instead.
class SentencePieceUnigram {
 public:
  /// The best segmentation up to a place in a text.
  struct Step {
    float score = 0;
    std::uint32_t begin = none;  ///< start of the last piece; `none` if no segmentation ends here
    Id id = DoubleArray::no_id;
  };
  using Scratch = std::vector<Step>;

  explicit SentencePieceUnigram(const SentencePieces& pieces) {
    float least = std::numeric_limits<float>::max();
    for (const auto& piece : pieces.all()) {
      scores_.push_back(piece.type == SentencePiece::Type::user_defined ? user_defined(piece.text)
                                                                        : piece.score);
      unused_.push_back(piece.type == SentencePiece::Type::unused);
      if (piece.type == SentencePiece::Type::normal) least = std::min(least, piece.score);
    }
    unknown_score_ = least - 10.0F;
  }

  /// Appends the pieces of `text`, which must be valid UTF-8 of less than 4 GiB.
  void cut(std::string_view text, const SentencePieces& pieces, Scratch& steps,
           std::vector<PieceOfText>& out) const {
    search(text, pieces, steps);
    const auto before = static_cast<std::ptrdiff_t>(out.size());
    for (std::size_t end = text.size(); end > 0; end = steps[end].begin) {
      const Step& step = steps[end];
      out.push_back({text.substr(step.begin, end - step.begin), step.id});
    }
    std::reverse(out.begin() + before, out.end());
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr float greatest_sum = 100'000;

  /// Returns a score at which a symbol wins over any other pieces of the stretch.
  static float user_defined(std::string_view text) {
    return static_cast<float>(0.1 * (static_cast<int>(text.size()) - 1));
  }

  void search(std::string_view text, const SentencePieces& pieces, Scratch& steps) const {
    steps.assign(text.size() + 1, Step{});
    std::size_t furthest = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      if (std::abs(steps[begin].score) > greatest_sum) shift_sums(begin, furthest, steps);
      const float here = steps[begin].score;
      const std::size_t next = begin + utf8_length(text[begin]);
      const auto offer = [&](std::size_t end, float score, Id id) {
        furthest = std::max(furthest, end);
        Step& step = steps[end];
        const float sum = score + here;
        if (step.begin != none && !(sum > step.score)) return;
        step = {sum, static_cast<std::uint32_t>(begin), id};
      };
      bool has_character = false;
      pieces.trie().for_each_prefix(text.substr(begin), [&](std::size_t size, Id id) {
        if (unused_[static_cast<std::size_t>(id)]) return;
        offer(begin + size, scores_[static_cast<std::size_t>(id)], id);
        has_character = has_character || begin + size == next;
      });
      if (!has_character) offer(next, unknown_score_, pieces.unknown());
      begin = next;
    }
  }

  static void shift_sums(std::size_t begin, std::size_t furthest, Scratch& steps) {
    const float sum = steps[begin].score;
    for (std::size_t i = begin; i <= furthest; ++i) {
      if (i == begin || steps[i].begin != none) steps[i].score -= sum;
    }
    steps[begin].score = 0;
  }

  std::vector<float> scores_;
  std::vector<bool> unused_;
  float unknown_score_ = 0;
};

}  // namespace seqtrain::text
