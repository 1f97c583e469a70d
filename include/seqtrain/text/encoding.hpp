#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace seqtrain::text {

using Id = std::int32_t;

struct EncodeOptions {
  /// Ids an example may have, special tokens included; a pair is cut `longest_first`.
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
  bool add_special_tokens = true;
};

/// What turns text into ids. `encode` appends the ids of a text, or of a pair, to `out` and returns
/// how many of the ids it appended come before the first of token type 1 (all, where a family has
/// one type or there is no pair). A tokenizer is immutable and may be shared by threads; `Scratch`
/// is one thread's working memory and cache. Text that is not UTF-8 throws `InputError`.
template <class T>
concept Tokenizer = std::movable<T> && std::default_initializable<typename T::Scratch> &&
    requires(const T& tokenizer, typename T::Scratch& scratch, std::string_view text,
             std::optional<std::string_view> pair, EncodeOptions options, std::vector<Id>& out) {
  { tokenizer.encode(text, pair, options, scratch, out) } -> std::same_as<std::size_t>;
  { tokenizer.vocab_size() } -> std::same_as<std::size_t>;
  { tokenizer.pad_id() } -> std::same_as<Id>;
  /// How many special tokens a single text, and a pair, gains.
  { tokenizer.special_tokens(bool{}) } -> std::same_as<std::size_t>;
};

}  // namespace seqtrain::text
