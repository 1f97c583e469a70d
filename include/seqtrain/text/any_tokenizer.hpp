#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/windows.hpp>
#include <seqtrain/text/word_tokenizer.hpp>

namespace seqtrain::text {

/// A tokenizer whose family is known only at run time. Call `visit` once for many texts: inside the
/// call the family is a type, so nothing is looked up per text.
class AnyTokenizer {
 public:
  using Family = std::variant<BertTokenizer, RobertaTokenizer, NormalizedByteLevelTokenizer,
                              AssembledTokenizer, WordTokenizer>;

  /// `files` are the files that the tokenizer consists of. `warnings` name the settings in them
  /// that encoding ignores. `max_length` is the most ids that they allow an example to have, and
  /// `windows` has the stride and the pooling.
  explicit AnyTokenizer(Family tokenizer, std::vector<std::filesystem::path> files = {},
                        std::vector<std::string> warnings = {},
                        std::size_t max_length = EncodeOptions{}.max_length,
                        const Windows& windows = {})
      : tokenizer_{std::move(tokenizer)},
        files_{std::move(files)},
        warnings_{std::move(warnings)},
        max_length_{max_length},
        windows_{windows} {}

  /// Calls `fn(const T&)` with the tokenizer of the family `T` and returns its result.
  template <class Fn>
  decltype(auto) visit(Fn&& fn) const {
    return std::visit(std::forward<Fn>(fn), tokenizer_);
  }

  [[nodiscard]] std::size_t vocab_size() const {
    return visit([](const auto& tokenizer) { return tokenizer.vocab_size(); });
  }
  [[nodiscard]] Id pad_id() const {
    return visit([](const auto& tokenizer) { return tokenizer.pad_id(); });
  }
  /// Returns how many special tokens a text or a pair gets.
  [[nodiscard]] std::size_t special_tokens(bool pair) const {
    return visit([&](const auto& tokenizer) { return tokenizer.special_tokens(pair); });
  }

  /// Sets the ids that texts keep, the most ids of an example or a window unless that is 0, and the
  /// stride and the pooling of windows. A saved tokenizer has the same settings.
  void set_long_texts(LongTexts way, std::size_t max_length = 0, const Windows& windows = {}) {
    std::visit([&](auto& tokenizer) { tokenizer.set_long_texts(way); }, tokenizer_);
    chosen_ = way;
    windows_ = windows;
    if (max_length > 0) max_length_ = max_length;
  }
  /// Sets what encoding does to texts before it makes ids of them.
  void set_change(const TextChange& change) {
    std::visit([&](auto& tokenizer) { tokenizer.set_change(change); }, tokenizer_);
  }

  /// Returns the ids that texts keep.
  [[nodiscard]] LongTexts long_texts() const {
    return visit([](const auto& tokenizer) { return tokenizer.long_texts(); });
  }
  /// Returns the ids that texts keep if `set_long_texts` was called.
  [[nodiscard]] std::optional<LongTexts> chosen_long_texts() const noexcept { return chosen_; }

  /// Returns the windows in which a model reads texts, if it does so.
  [[nodiscard]] std::optional<Windows> windows() const {
    return visit([&](const auto& tokenizer) -> std::optional<Windows> {
      if (tokenizer.long_texts() != LongTexts::windows) return {};
      return Windows{.length = max_length_,
                     .stride = windows_.stride,
                     .pooling = windows_.pooling,
                     .templates = tokenizer.templates(),
                     .pad_id = tokenizer.pad_id()};
    });
  }

  /// Returns the most ids that an example or a window may have: tokenizer_config.json's
  /// `model_max_length`, unless `set_long_texts` was called. `encode` does not use it.
  [[nodiscard]] std::size_t max_length() const noexcept { return max_length_; }

  /// Returns the files to copy when a model is saved with its tokenizer.
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept { return files_; }

  /// Returns one sentence for each setting of the files that encoding ignores. A program shows them
  /// once.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  Family tokenizer_;
  std::vector<std::filesystem::path> files_;
  std::vector<std::string> warnings_;
  std::size_t max_length_;
  Windows windows_;
  std::optional<LongTexts> chosen_ = {};
};

/// Returns the id that stands for text which the vocabulary lacks, or nothing if there is no such
/// id, as in tokenizers of bytes. It is the id that two letters of scripts that vocabularies lack
/// have in common: an Egyptian hieroglyph and a sign of cuneiform.
template <class T>
[[nodiscard]] std::optional<Id> unknown_id(const T& tokenizer) {
  typename T::Scratch scratch;
  std::vector<Id> ids;
  std::optional<Id> last;
  for (const std::string_view letter : {"\xF0\x93\x80\x81", "\xF0\x92\x80\x89"}) {
    ids.clear();
    tokenizer.encode(letter, {}, {.add_special_tokens = false}, scratch, ids);
    if (ids.empty() || (last && *last != ids.back())) return {};
    last = ids.back();
  }
  return last;
}

/// Returns the id for a tokenizer whose family is known only at run time.
[[nodiscard]] inline std::optional<Id> unknown_id(const AnyTokenizer& tokenizer) {
  return tokenizer.visit([](const auto& known) { return unknown_id(known); });
}

}  // namespace seqtrain::text
