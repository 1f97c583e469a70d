#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::text {

struct TextChange;
struct TokenizerFamily;

/// A tokenizer whose family is known only at run time. Call `visit` once for many texts: inside the
/// call the family is a type, so nothing is looked up per text. One that was moved from can only be
/// assigned or destroyed.
class AnyTokenizer {
 public:
  using Family = TokenizerFamily;

  /// `files` are the files that the tokenizer consists of. `warnings` name the settings in them
  /// that encoding ignores. `max_length` is the most ids that they allow an example to have, and
  /// `windows` has the stride and the pooling. A caller includes `text/tokenizer_family.hpp`.
  explicit AnyTokenizer(Family tokenizer, std::vector<std::filesystem::path> files = {},
                        std::vector<std::string> warnings = {},
                        std::size_t max_length = EncodeOptions{}.max_length,
                        const Windows& windows = {});
  AnyTokenizer(const AnyTokenizer& other);
  AnyTokenizer(AnyTokenizer&&) noexcept;
  AnyTokenizer& operator=(const AnyTokenizer& other);
  AnyTokenizer& operator=(AnyTokenizer&&) noexcept;
  ~AnyTokenizer();

  /// Calls `fn(const T&)` with the tokenizer of the family `T` and returns its result. A caller
  /// includes `text/tokenizer_family.hpp`, which has the families' classes.
  template <class Fn>
  decltype(auto) visit(Fn&& fn) const {
    return std::visit(std::forward<Fn>(fn), std::as_const(*tokenizer_));
  }

  [[nodiscard]] std::size_t vocab_size() const;
  [[nodiscard]] Id pad_id() const;
  /// Returns how many special tokens a text or a pair gets.
  [[nodiscard]] std::size_t special_tokens(bool pair) const;

  /// Sets the ids that texts keep, the most ids of an example or a window unless that is 0, and the
  /// stride and the pooling of windows. A saved tokenizer has the same settings.
  void set_long_texts(LongTexts way, std::size_t max_length = 0, const Windows& windows = {});
  /// Sets what encoding does to texts before it makes ids of them.
  void set_change(const TextChange& change);

  /// Returns the ids that texts keep.
  [[nodiscard]] LongTexts long_texts() const;
  /// Returns the ids that texts keep if `set_long_texts` was called.
  [[nodiscard]] std::optional<LongTexts> chosen_long_texts() const noexcept { return chosen_; }

  /// Returns the windows in which a model reads texts, if it does so.
  [[nodiscard]] std::optional<Windows> windows() const;

  /// Returns the most ids that an example or a window may have: tokenizer_config.json's
  /// `model_max_length`, unless `set_long_texts` was called. `encode` does not use it.
  [[nodiscard]] std::size_t max_length() const noexcept { return max_length_; }

  /// Returns the files to copy when a model is saved with its tokenizer.
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept { return files_; }

  /// Returns one sentence for each setting of the files that encoding ignores. A program shows them
  /// once.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  std::unique_ptr<Family> tokenizer_;
  std::vector<std::filesystem::path> files_;
  std::vector<std::string> warnings_;
  std::size_t max_length_;
  Windows windows_;
  std::optional<LongTexts> chosen_ = {};
};

/// Returns the id that stands for text which the vocabulary lacks, or nothing if there is no such
/// id, as in tokenizers of bytes.
[[nodiscard]] SEQTRAIN_SEPARATE std::optional<Id> unknown_id(const AnyTokenizer& tokenizer);

}  // namespace seqtrain::text

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/text/src/any_tokenizer.hpp>
#endif
