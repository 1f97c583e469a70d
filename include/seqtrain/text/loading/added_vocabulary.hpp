#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/added_tokens.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>

namespace seqtrain::text {

/// An added token as a file of transformers declares it.
struct DeclaredToken {
  std::string content = {};
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  bool special = true;
  std::optional<bool> normalized = {};  ///< the opposite of `special` if it has no value
  bool is_string = false;               ///< the file has a string; ignored by comparisons

  [[nodiscard]] bool is_normalized() const noexcept { return normalized.value_or(!special); }

  /// Returns a text that tells all flags, and whether the file has a string.
  [[nodiscard]] std::string flags() const {
    std::string text;
    for (const bool flag : {single_word, lstrip, rstrip, special, is_normalized(), is_string}) {
      text += flag ? '1' : '0';
    }
    return text;
  }

  bool operator==(const DeclaredToken& other) const noexcept {
    return content == other.content && single_word == other.single_word && lstrip == other.lstrip &&
           rstrip == other.rstrip && special == other.special &&
           is_normalized() == other.is_normalized();
  }
};

/// Reads an added token: a string with its content, or an object. `special` holds if an object
/// does not say it. A string is always special.
[[nodiscard]] inline DeclaredToken read_declared_token(const json::Value& value,
                                                       bool special = false) {
  if (value.is_string()) return {.content = std::string{value.string()}, .is_string = true};
  const auto flag = [&](std::string_view name, bool otherwise) {
    const auto found = value.find(name);
    return found ? found->boolean() : otherwise;
  };
  DeclaredToken token{.content = std::string{value.at("content").string()},
                      .single_word = flag("single_word", false),
                      .lstrip = flag("lstrip", false),
                      .rstrip = flag("rstrip", false),
                      .special = flag("special", special)};
  if (const auto normalized = value.find("normalized")) token.normalized = normalized->boolean();
  return token;
}

/// The added tokens of a tokenizer that is being read. Tokens are added one after the other, and
/// a token that is added again takes new flags, as in Hugging Face's `tokenizers`.
class AddedVocabulary {
 public:
  explicit AddedVocabulary(Vocabulary& vocabulary) : vocabulary_{&vocabulary} {}

  /// Adds a token. It gets its id in the vocabulary or a new one, whatever id a file has.
  void add(const DeclaredToken& token) {
    if (token.content.empty()) return;
    if (token.special) specials_.insert(token.content);
    by_id_.insert_or_assign(vocabulary_->give_id(token.content), token);
  }

  /// Tells whether an equal token was added.
  [[nodiscard]] bool has(const DeclaredToken& token) const {
    const auto found = find(token.content);
    return found && *found == token;
  }
  /// Tells whether a token with this content was added.
  [[nodiscard]] bool has(const std::string& content) const { return find(content).has_value(); }

  /// Returns the tokens to look for. Tokens that were special once stay text if `split_special` is
  /// set.
  [[nodiscard]] std::vector<AddedToken> tokens(bool split_special) const {
    std::vector<AddedToken> tokens;
    for (const auto& [id, token] : by_id_) {
      tokens.push_back({.content = token.content,
                        .id = id,
                        .single_word = token.single_word,
                        .lstrip = token.lstrip,
                        .rstrip = token.rstrip,
                        .normalized = token.is_normalized(),
                        .stays_text = split_special && specials_.contains(token.content)});
    }
    return tokens;
  }

 private:
  [[nodiscard]] std::optional<DeclaredToken> find(const std::string& content) const {
    if (!vocabulary_->contains(content)) return {};
    const auto found = by_id_.find(vocabulary_->at(content, "added token"));
    if (found == by_id_.end() || found->second.content != content) return {};
    return found->second;
  }

  Vocabulary* vocabulary_;
  std::map<Id, DeclaredToken> by_id_;
  std::unordered_set<std::string> specials_;
};

}  // namespace seqtrain::text
