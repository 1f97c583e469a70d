#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Cuts a text around the tokens that occur in it, as the tokenizers of transformers that are
/// Python code do (`Trie.split`). A token that ends first is cut out, unless one that began before
/// it, or a longer one with the same beginning, is found too.
class TokenTrie {
 public:
  /// Adds a token. An empty one counts for nothing.
  void add(std::string_view token) {
    std::size_t at = 0;
    if (token.empty()) return;
    for (std::size_t i = 0; i < token.size();) {
      const char32_t character = decode(token, i);
      const auto next = child(at, character);
      if (!next) nodes_[at].next.emplace_back(character, nodes_.size());
      at = next.value_or(nodes_.size());
      if (!next) nodes_.emplace_back();
    }
    nodes_[at].ends = true;
  }

  /// Calls `fn(piece)` for each token and for each stretch between tokens. No piece is empty.
  template <class Fn>
  void split(std::string_view text, Fn&& fn) const {
    const Characters characters{text};
    std::size_t done = 0;
    const auto cut = [&](std::size_t end) {
      if (end <= done) return;
      fn(characters.between(done, end));
      done = end;
    };
    std::vector<State> states;
    std::size_t skip = 0;
    for (std::size_t i = 0; i < characters.size(); ++i) {
      if (i < skip) continue;
      if (const auto found = advance(states, characters, i)) {
        cut(found->begin);
        cut(found->end);
        skip = found->skip;
        states.clear();
      }
      if (i < skip) continue;
      if (const auto next = child(0, characters[i])) states.push_back({i, *next});
    }
    const auto last =
        std::ranges::find_if(states, [&](const State& state) { return nodes_[state.node].ends; });
    if (last != states.end()) cut(last->begin);
    cut(characters.size());
  }

 private:
  struct Node {
    std::vector<std::pair<char32_t, std::size_t>> next = {};
    bool ends = false;  ///< a token ends here
  };
  /// A token that may have begun at a character.
  struct State {
    std::size_t begin, node;
    bool ended = false;  ///< it has not begun there
  };
  struct Match {
    std::size_t begin, end, skip;
  };

  /// The characters of a text.
  class Characters {
   public:
    explicit Characters(std::string_view text) : text_{text} {
      for (std::size_t i = 0; i < text.size();) {
        begins_.push_back(i);
        codes_.push_back(decode(text, i));
      }
      begins_.push_back(text.size());
    }

    [[nodiscard]] std::size_t size() const noexcept { return codes_.size(); }
    [[nodiscard]] char32_t operator[](std::size_t i) const noexcept { return codes_[i]; }
    [[nodiscard]] std::string_view between(std::size_t begin, std::size_t end) const {
      return text_.substr(begins_[begin], begins_[end] - begins_[begin]);
    }

   private:
    std::string_view text_;
    std::vector<char32_t> codes_;
    std::vector<std::size_t> begins_;
  };

  [[nodiscard]] std::optional<std::size_t> child(std::size_t node, char32_t character) const {
    const auto& next = nodes_[node].next;
    const auto found = std::ranges::find(next, character, &std::pair<char32_t, std::size_t>::first);
    return found == next.end() ? std::nullopt : std::optional{found->second};
  }

  /// Takes character `i`. Returns what is cut out if a token ended before it.
  [[nodiscard]] std::optional<Match> advance(std::vector<State>& states,
                                             const Characters& characters, std::size_t i) const {
    for (std::size_t s = 0; s < states.size(); ++s) {
      State& state = states[s];
      if (nodes_[state.node].ends) return longest(states, s, characters, i);
      const auto next = child(state.node, characters[i]);
      state.ended = !next;
      if (next) state.node = *next;
    }
    std::erase_if(states, [](const State& state) { return state.ended; });
    return {};
  }

  /// Looks for a longer token than that of state `s`, which ended before character `i`. The states
  /// before it have taken that character, or could not.
  [[nodiscard]] Match longest(const std::vector<State>& states, std::size_t s,
                              const Characters& characters, std::size_t i) const {
    Match match{states[s].begin, i, 0};
    for (const State& state : states) {
      if (state.begin > match.begin) break;
      std::size_t at = state.begin < match.begin ? i + 1 : i, node = state.node;
      const auto note = [&] {
        if (nodes_[node].ends) match = {state.begin, at, at};
      };
      match.end = at;
      note();
      while (at < characters.size()) {
        const auto next = child(node, characters[at]);
        if (!next) break;
        node = *next;
        ++at;
        note();
      }
    }
    return match;
  }

  std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace seqtrain::text
