#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/token.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::predict {

/// A tokenizer of any kind that threads may share. Each call borrows working memory that no other
/// call uses.
class TextEncoder {
 public:
  template <class T>
  requires(!std::same_as<T, TextEncoder> && text::Tokenizer<T>) explicit TextEncoder(T tokenizer)
      : tokenizer_{std::make_unique<const Shared<T>>(std::move(tokenizer))} {}

  explicit TextEncoder(const text::AnyTokenizer& tokenizer);

  /// Encodes a text or a pair with its special tokens, cut to `max_length` ids as `way`, or else
  /// the tokenizer, says. Throws `InputError` if the text is not UTF-8 or has no ids, or if the
  /// special tokens alone exceed `max_length`.
  [[nodiscard]] Encoded operator()(std::string_view text, std::optional<std::string_view> pair,
                                   std::size_t max_length,
                                   std::optional<text::LongTexts> way = {}) const {
    return tokenizer_->encode(text, pair, {.max_length = max_length, .long_texts = way});
  }

  /// Returns the tokens of a text, or nothing if the tokenizer cannot name its ids. Throws
  /// `InputError` on text that is not UTF-8.
  [[nodiscard]] std::optional<std::vector<text::Token>> tokens(std::string_view text,
                                                               bool special) const {
    return tokenizer_->tokens(text, special);
  }

  [[nodiscard]] std::size_t vocab_size() const { return tokenizer_->vocab_size(); }
  [[nodiscard]] text::Id pad_id() const { return tokenizer_->pad_id(); }
  /// Returns the most ids that the tokenizer's files allow an example to have, if they limit it.
  [[nodiscard]] std::size_t max_length() const { return max_length_; }
  /// Returns the ids that texts keep.
  [[nodiscard]] text::LongTexts long_texts() const { return long_texts_; }
  /// Returns the windows in which a model reads texts, if it does so.
  [[nodiscard]] const std::optional<text::Windows>& windows() const { return windows_; }

 private:
  struct Any {
    virtual ~Any() = default;
    [[nodiscard]] virtual Encoded encode(std::string_view text,
                                         std::optional<std::string_view> pair,
                                         const text::EncodeOptions& options) const = 0;
    [[nodiscard]] virtual std::optional<std::vector<text::Token>> tokens(std::string_view text,
                                                                         bool special) const = 0;
    [[nodiscard]] virtual std::size_t vocab_size() const = 0;
    [[nodiscard]] virtual text::Id pad_id() const = 0;
  };

  template <class T>
  class Shared final : public Any {
   public:
    explicit Shared(T tokenizer) : tokenizer_{std::move(tokenizer)} {}

    [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                                 const text::EncodeOptions& options) const override {
      auto scratch = borrow();
      Encoded result;
      result.first_segment = tokenizer_.encode(text, pair, options, *scratch, result.input_ids);
      give_back(std::move(scratch));
      if (result.input_ids.empty()) throw InputError{"the text has no ids"};
      return result;
    }

    [[nodiscard]] std::optional<std::vector<text::Token>> tokens(std::string_view text,
                                                                 bool special) const override {
      if constexpr (requires { tokenizer_.tokens(text, special); }) {
        return tokenizer_.tokens(text, special);
      }
      return {};
    }

    [[nodiscard]] std::size_t vocab_size() const override { return tokenizer_.vocab_size(); }
    [[nodiscard]] text::Id pad_id() const override { return tokenizer_.pad_id(); }

   private:
    using Scratch = std::unique_ptr<typename T::Scratch>;

    Scratch borrow() const {
      const std::lock_guard lock{mutex_};
      if (free_.empty()) return std::make_unique<typename T::Scratch>();
      Scratch scratch = std::move(free_.back());
      free_.pop_back();
      return scratch;
    }

    void give_back(Scratch scratch) const {
      const std::lock_guard lock{mutex_};
      free_.push_back(std::move(scratch));
    }

    T tokenizer_;
    mutable std::mutex mutex_;
    mutable std::vector<Scratch> free_;
  };

  std::unique_ptr<const Any> tokenizer_;
  std::size_t max_length_ = text::EncodeOptions{}.max_length;
  text::LongTexts long_texts_ = text::LongTexts::truncate;
  std::optional<text::Windows> windows_ = {};
};

}  // namespace seqtrain::predict

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/predict/src/text_encoder.hpp>
#endif
