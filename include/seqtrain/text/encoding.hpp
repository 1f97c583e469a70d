#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace seqtrain::text {

/// The number of a token in a vocabulary.
using Id = std::int32_t;

/// The ids that a text with too many of them keeps: its first ones, its last ones, or its first
/// ones for a quarter and its last ones for the rest (Sun et al. 2019: 128 and 382 of 510).
/// `windows` cuts as `truncate`; programs set no limit then, because the model reads windows.
/// `only_first` cuts the first text of a pair at its end, as Hugging Face's strategy of this name
/// does; a second one that leaves the first no room is refused.
enum class LongTexts { truncate, tail, head_tail, windows, only_first };

/// Options of `encode`.
struct EncodeOptions {
  /// The most ids that an example may have, special tokens included. `longest_first` decides how
  /// many of them each text of a pair keeps.
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
  bool add_special_tokens = true;
  /// The ids that texts keep. If not given, the tokenizer decides.
  std::optional<LongTexts> long_texts = {};
};

/// Turns text into ids. `encode` appends the ids of a text or a pair to `out`. It returns how many
/// of the appended ids come before the first id of token type 1: all of them for a single text or
/// for a family with one type. A tokenizer of a model that reads windows returns where the second
/// text begins, whatever its type. A tokenizer is immutable, and threads may share it. `Scratch` is
/// one thread's working memory and cache. `encode` throws `InputError` if a text is not UTF-8, or
/// if `only_first` leaves nothing of the first text.
template <class T>
concept Tokenizer = std::movable<T> && std::default_initializable<typename T::Scratch> &&
    requires(const T& tokenizer, typename T::Scratch& scratch, std::string_view text,
             std::optional<std::string_view> pair, EncodeOptions options, std::vector<Id>& out) {
  { tokenizer.encode(text, pair, options, scratch, out) } -> std::same_as<std::size_t>;
  { tokenizer.vocab_size() } -> std::same_as<std::size_t>;
  { tokenizer.pad_id() } -> std::same_as<Id>;
  /// Returns the number of special tokens around a single text (false) or a pair (true).
  { tokenizer.special_tokens(bool{}) } -> std::same_as<std::size_t>;
};

}  // namespace seqtrain::text
