#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/text/added_tokens.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/token.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// A pipeline whose parts can be called one after the other.
template <class P>
concept HasParts = requires(const P& pipeline) {
  pipeline.plain();
}
|| requires(const P& pipeline) {
  pipeline.splitter();
};

/// Collects the tokens of a text with their offsets. It runs the parts of `Pipeline` one after the
/// other, which is slower than `encode`.
template <class Pipeline>
class TokenCollector {
 public:
  /// `names` are the tokens of the vocabulary, indexed by id. All arguments must outlive the
  /// collector.
  TokenCollector(const Pipeline& pipeline, std::string_view text,
                 std::span<const std::string> names, bool trims_spaces)
      : pipeline_{pipeline}, text_{text}, names_{names}, trims_spaces_{trims_spaces} {}

  /// Adds a special token.
  void add_special(Id id) { tokens_.push_back({.id = id, .text = name(id), .special = true}); }

  /// Adds a token whose offsets are unknown.
  void add_named(Id id) { tokens_.push_back({.id = id, .text = name(id)}); }

  /// Adds an added token. `found` is its place in the text.
  void add_added(Id id, std::string_view found) {
    const std::size_t begin = offset(found);
    add(id, trimmed({begin, begin + found.size()}, whitespace));
  }

  /// Adds the tokens of a stretch of the text. `normalized` tokens are looked for in its normal
  /// form.
  void add_stretch(std::string_view stretch, const AddedTokens& normalized) {
    align(stretch);
    const std::string_view whole{normal_form_};
    normalized.split(whole, [&](const Segment& segment) {
      const auto begin = static_cast<std::size_t>(segment.text.data() - whole.data());
      if (segment.id) {
        add_aligned(*segment.id, begin, begin + segment.text.size(), whitespace);
      } else {
        add_words(segment.text, begin);
      }
      return true;
    });
  }

  [[nodiscard]] std::vector<Token> take() && { return std::move(tokens_); }

 private:
  static constexpr std::string_view whitespace = " \t\n\r\f\v";

  struct Place {
    std::size_t begin;
    std::size_t end;
  };

  [[nodiscard]] std::string name(Id id) const {
    const auto index = static_cast<std::size_t>(id);
    return index < names_.size() ? names_[index] : std::string{};
  }

  [[nodiscard]] std::size_t offset(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - text_.data());
  }

  static const auto& plain(const Pipeline& pipeline) {
    if constexpr (requires { pipeline.plain(); }) {
      return pipeline.plain();
    } else {
      return pipeline;
    }
  }

  /// Makes the normal form of a stretch and finds the character that each of its bytes comes from.
  void align(std::string_view stretch) {
    normal_form_.clear();
    places_.clear();
    for (std::size_t i = 0; i < stretch.size();) {
      const std::size_t begin = i;
      static_cast<void>(decode(stretch, i));
      normal_form_ += pipeline_.normalize(stretch.substr(begin, i - begin), scratch_);
      places_.resize(normal_form_.size(), {offset(stretch) + begin, offset(stretch) + i});
    }
    const auto whole = pipeline_.normalize(stretch, scratch_);
    if (whole == normal_form_) return;
    normal_form_ = whole;
    places_.clear();
  }

  /// Adds the tokens of a part of the normal form that begins at `begin`.
  void add_words(std::string_view part, std::size_t begin) {
    const auto& splitter = plain(pipeline_).splitter();
    const auto& model = plain(pipeline_).model();
    std::string given{part};
    std::size_t added = 0;
    if constexpr (requires { splitter.add_prefix_space; }) {
      if (splitter.add_prefix_space && part.front() != ' ') added = 1;
    }
    given.insert(0, added, ' ');
    splitter.for_each_word(given, [&](std::string_view word) {
      const auto at = static_cast<std::size_t>(word.data() - given.data());
      std::vector<Id> ids;
      model.encode_word(word, ids);
      const auto sizes = sizes_in(word, ids);
      for (std::size_t i = 0, from = at; i < ids.size(); ++i) {
        const std::size_t to = sizes.empty() ? at + word.size() : from + sizes[i];
        add_aligned(ids[i], begin + std::max(from, added) - added, begin + to - added, " ");
        if (!sizes.empty()) from = to;
      }
    });
  }

  /// Returns the number of bytes of a word that each id stands for. The list is empty if the
  /// numbers are unknown; then each id stands for the whole word.
  [[nodiscard]] std::vector<std::size_t> sizes_in(std::string_view word,
                                                  const std::vector<Id>& ids) const {
    using Model = std::remove_cvref_t<decltype(plain(pipeline_).model())>;
    std::vector<std::size_t> sizes;
    if constexpr (requires { Model::bytes_of(word, true); }) {
      std::size_t sum = 0;
      for (const Id id : ids) sum += sizes.emplace_back(Model::bytes_of(name(id), sizes.empty()));
      if (ids.size() == 1 || sum != word.size()) sizes.clear();
    }
    return sizes;
  }

  /// Adds a token for a range of bytes of the normal form. Its offsets leave out `spaces` at the
  /// ends if the tokenizer trims them.
  void add_aligned(Id id, std::size_t begin, std::size_t end, std::string_view spaces) {
    if (places_.empty()) return add_named(id);
    // The space that was added before the text counts as the first character, as in the reference.
    const std::size_t last = std::max(end, begin + 1) - 1;
    add(id, trimmed({places_[begin].begin, places_[last].end}, spaces));
  }

  [[nodiscard]] Place trimmed(Place place, std::string_view spaces) const {
    if (!trims_spaces_) return place;
    const auto is_space = [&](std::size_t at) { return spaces.find(text_[at]) != spaces.npos; };
    while (place.begin < place.end && is_space(place.begin)) ++place.begin;
    while (place.begin < place.end && is_space(place.end - 1)) --place.end;
    return place;
  }

  void add(Id id, Place place) {
    const auto [begin, end] = place;
    const auto text = text_.substr(begin, end - begin);
    tokens_.push_back({.id = id, .text = std::string{text}, .begin = begin, .end = end});
  }

  const Pipeline& pipeline_;
  std::string_view text_;
  std::span<const std::string> names_;
  bool trims_spaces_;
  typename Pipeline::Scratch scratch_ = {};
  std::string normal_form_;  ///< normal form of the current stretch
  /// Place of each byte of the normal form; empty if the places are unknown.
  std::vector<Place> places_;
  std::vector<Token> tokens_;
};

}  // namespace seqtrain::text
