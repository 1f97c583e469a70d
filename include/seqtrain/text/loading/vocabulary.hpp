#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/text/added_tokens.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// The tokens and ids of a tokenizer that is being read. Ids may have gaps. The bytes of the tokens
/// must outlive the vocabulary.
class Vocabulary {
 public:
  using Entry = std::pair<std::string_view, Id>;

  /// Adds a token. If a token is repeated its last id counts. Throws `InputError` if the id is
  /// negative or too large.
  void add(std::string_view token, std::int64_t id) {
    entries_.emplace_back(token, checked(token, id));
    ids_.insert_or_assign(std::string{token}, static_cast<Id>(id));
    size_ = std::max(size_, static_cast<std::size_t>(id) + 1);
  }

  /// Gives each token its id in the vocabulary, or a new id: the number of entries, or one more
  /// than the highest id given so far if that is greater. Hugging Face does so too, whatever id a
  /// file has. Drops repeated and empty tokens.
  void give_ids(std::vector<AddedToken>& tokens) {
    std::unordered_set<std::string> seen;
    std::erase_if(tokens, [&](const AddedToken& token) {
      return token.content.empty() || !seen.insert(token.content).second;
    });
    auto next = static_cast<std::int64_t>(entries_.size());
    for (AddedToken& token : tokens) {
      const auto found = ids_.try_emplace(token.content, checked(token.content, next)).first;
      token.id = found->second;
      next = std::max(next, std::int64_t{token.id} + 1);
      size_ = std::max(size_, static_cast<std::size_t>(token.id) + 1);
    }
  }

  /// Returns the id of a token. Throws `InputError` with `role`, the purpose of the token, if there
  /// is no such token.
  [[nodiscard]] Id at(const std::string& token, const std::string& role) const {
    const auto found = ids_.find(token);
    if (found != ids_.end()) return found->second;
    throw InputError{"the vocabulary has no " + role + " " + token};
  }

  [[nodiscard]] bool contains(const std::string& token) const { return ids_.contains(token); }

  /// Returns the entries in the order in which `add` was called, without the tokens of `give_ids`.
  [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }

  /// Returns the tokens indexed by id, including the tokens of `give_ids`. An id without a token
  /// has "". Ids far greater than the number of tokens are left out.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names(std::min(size_, 4 * ids_.size() + 1024));
    for (const auto& [token, id] : ids_) {
      if (const auto place = static_cast<std::size_t>(id); place < names.size())
        names[place] = token;
    }
    return names;
  }

  /// Returns the greatest id plus one.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static Id checked(std::string_view token, std::int64_t id) {
    if (id >= 0 && id < std::numeric_limits<Id>::max()) return static_cast<Id>(id);
    throw InputError{"the id " + std::to_string(id) + " of \"" + std::string{token} +
                     "\" is out of range"};
  }

  std::vector<Entry> entries_;
  std::unordered_map<std::string, Id> ids_;
  std::size_t size_ = 0;
};

/// Reads a JSON object that maps tokens to ids.
[[nodiscard]] inline Vocabulary read_vocabulary(const json::Value& value) {
  simdjson::dom::object object;
  if (value.element().get(object) != simdjson::SUCCESS) throw value.error("expected an object");
  Vocabulary vocabulary;
  for (const auto& [token, element] : object) {
    std::int64_t id = 0;
    if (element.get(id) != simdjson::SUCCESS) {
      throw value.error("the id of \"" + std::string{token} + "\" is not an integer");
    }
    vocabulary.add(token, id);
  }
  return vocabulary;
}

/// Returns the two tokens of a merge written as "left right", or nothing if it is written
/// otherwise.
[[nodiscard]] inline std::optional<std::pair<std::string_view, std::string_view>> split_merge(
    std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return {};
  const std::string_view right = text.substr(space + 1);
  if (right.find(' ') != std::string_view::npos) return {};
  return std::pair{text.substr(0, space), right};
}

}  // namespace seqtrain::text
