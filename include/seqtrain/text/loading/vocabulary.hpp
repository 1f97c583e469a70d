#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {
namespace detail {

/// Calls `fn(line, number)` for each line of a file. Numbers count from 1. Throws `InputError` if a
/// line is not UTF-8.
template <class Fn>
void for_each_line(const MappedFile& file, const std::filesystem::path& path, Fn&& fn) {
  std::string_view text = file.text();
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_valid_utf8(line)) {
      throw InputError{"not UTF-8", {.object = path.string(), .line = number}};
    }
    fn(line, number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace detail

/// The id that a new token gets.
enum class NewIds {
  /// The number of different tokens, or one more than the highest id that was returned if that is
  /// greater, as in Hugging Face's `tokenizers`.
  after_different,
  after_all,  ///< the same, but a repeated token counts as often as it occurs
  /// The number of different tokens, even if one of them has this id, as in the tokenizers of
  /// transformers that are Python code.
  by_count,
};

/// The tokens and ids of a tokenizer that is being read. Ids may have gaps. The bytes of the tokens
/// must outlive the vocabulary.
class Vocabulary {
 public:
  using Entry = std::pair<std::string_view, Id>;

  Vocabulary() = default;
  explicit Vocabulary(NewIds new_ids) : new_ids_{new_ids} {}

  /// Adds a token. If a token is repeated its last id counts. Throws `InputError` if the id is
  /// negative or too large.
  void add(std::string_view token, std::int64_t id) {
    entries_.emplace_back(token, checked(token, id));
    if (ids_.insert_or_assign(std::string{token}, static_cast<Id>(id)).second) ++count_;
    size_ = std::max(size_, static_cast<std::size_t>(id) + 1);
  }

  /// Returns the id of a token. A token that is not in the vocabulary gets a new one.
  Id give_id(const std::string& token) {
    const std::size_t count = new_ids_ == NewIds::after_all ? entries_.size() : count_;
    next_ = std::max(next_, static_cast<std::int64_t>(count));
    const auto [place, is_new] = ids_.try_emplace(token, checked(token, next_));
    const Id id = place->second;
    if (is_new || new_ids_ != NewIds::by_count) next_ = std::max(next_, std::int64_t{id} + 1);
    size_ = std::max(size_, static_cast<std::size_t>(id) + 1);
    return id;
  }

  /// Returns the id of a token. Throws `InputError` with `role`, the purpose of the token, if there
  /// is no such token.
  [[nodiscard]] Id at(const std::string& token, const std::string& role) const {
    const auto found = ids_.find(token);
    if (found != ids_.end()) return found->second;
    throw InputError{"the vocabulary has no " + role + " " + token};
  }

  /// Tells whether the vocabulary has a token.
  [[nodiscard]] bool contains(const std::string& token) const { return ids_.contains(token); }

  /// Returns the entries in the order in which `add` was called, without the tokens of `give_id`.
  [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }

  /// Returns the tokens indexed by id, including the tokens of `give_id`. An id without a token
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
  std::size_t count_ = 0;  ///< number of different tokens, without those of `give_id`
  std::int64_t next_ = 0;
  NewIds new_ids_ = NewIds::after_different;
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
