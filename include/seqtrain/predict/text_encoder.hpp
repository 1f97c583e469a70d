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
#include <seqtrain/predict/encoded.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::predict {

/// A tokenizer of any kind that threads share: each call borrows working memory that no other uses.
class TextEncoder {
 public:
  template <class T>
  requires(!std::same_as<T, TextEncoder> && text::Tokenizer<T>) explicit TextEncoder(T tokenizer)
      : tokenizer_{std::make_unique<const Shared<T>>(std::move(tokenizer))} {}

  explicit TextEncoder(const text::AnyTokenizer& tokenizer)
      : TextEncoder{tokenizer.visit([](const auto& known) { return TextEncoder{known}; })} {}

  /// Encodes a text or a pair with its special tokens, cut to `max_length` ids. Throws `InputError`
  /// on text that is not UTF-8, on text that has no ids, and if the special tokens alone are more.
  [[nodiscard]] Encoded operator()(std::string_view text, std::optional<std::string_view> pair,
                                   std::size_t max_length) const {
    return tokenizer_->encode(text, pair, max_length);
  }

  [[nodiscard]] std::size_t vocab_size() const { return tokenizer_->vocab_size(); }
  [[nodiscard]] text::Id pad_id() const { return tokenizer_->pad_id(); }
  /// Returns how many special tokens a single text, or a pair, gains.
  [[nodiscard]] std::size_t special_tokens(bool pair) const {
    return tokenizer_->special_tokens(pair);
  }

 private:
  struct Any {
    virtual ~Any() = default;
    [[nodiscard]] virtual Encoded encode(std::string_view text,
                                         std::optional<std::string_view> pair,
                                         std::size_t max_length) const = 0;
    [[nodiscard]] virtual std::size_t vocab_size() const = 0;
    [[nodiscard]] virtual text::Id pad_id() const = 0;
    [[nodiscard]] virtual std::size_t special_tokens(bool pair) const = 0;
  };

  template <class T>
  class Shared final : public Any {
   public:
    explicit Shared(T tokenizer) : tokenizer_{std::move(tokenizer)} {}

    [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                                 std::size_t max_length) const override {
      auto scratch = borrow();
      Encoded result;
      result.first_segment =
          tokenizer_.encode(text, pair, {.max_length = max_length}, *scratch, result.input_ids);
      if (result.input_ids.size() == max_length) {  // it just fits, or was cut
        std::vector<text::Id> ids;
        tokenizer_.encode(text, pair, {.max_length = max_length + 1}, *scratch, ids);
        result.truncated = ids.size() > max_length;
      }
      give_back(std::move(scratch));
      if (result.input_ids.empty()) throw InputError{"the text has no ids"};
      return result;
    }

    [[nodiscard]] std::size_t vocab_size() const override { return tokenizer_.vocab_size(); }
    [[nodiscard]] text::Id pad_id() const override { return tokenizer_.pad_id(); }
    [[nodiscard]] std::size_t special_tokens(bool pair) const override {
      return tokenizer_.special_tokens(pair);
    }

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
};

}  // namespace seqtrain::predict
