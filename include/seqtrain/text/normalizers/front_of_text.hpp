#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/text/normalizers/normalizers.hpp>

namespace seqtrain::text {

/// Normalizes a text and finds the bytes of its normal form that Hugging Face's package attributes
/// to the first character of the text: a `Metaspace` with the scheme `first` marks each word that
/// begins there. An inserted character counts as part of the character before it.
/// `NormalizerSequence` gives an equal normal form faster.
class FrontOfText {
 public:
  explicit FrontOfText(std::string_view text) : text_{text} {
    if (!text.empty()) front_ = utf8_length(text[0]);
  }

  /// Applies a normalizer.
  void apply(const Normalizer& part) {
    std::visit([this](const auto& one) { apply_one(one); }, part);
  }

  /// Returns the bytes at the front of the normal form that come from the first character.
  [[nodiscard]] std::size_t size() const noexcept { return front_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  using Part = NormalFormWriter::Part;
  using Parts = std::vector<Part>;

  /// Replaces the text by `parts`, which leave out the first `removed` characters of the old text.
  void transform(const Parts& parts, std::size_t removed = 0) {
    std::string out;
    std::size_t at = 0;
    std::size_t front = 0;
    skip(at, removed);
    for (const auto& [code, change] : parts) {
      append_utf8(out, code);
      if (change > 0 ? at <= front_ : at < front_) front = out.size();
      if (change <= 0) skip(at, static_cast<std::size_t>(1 - change));
    }
    text_ = std::move(out);
    front_ = front;
  }

  void skip(std::size_t& at, std::size_t characters) const {
    for (; characters > 0 && at < text_.size(); --characters) at += utf8_length(text_[at]);
  }

  /// Calls `fn(code, parts)`, which appends the replacement of a character, for each character.
  template <class Fn>
  void for_each_character(const Fn& fn) {
    Parts parts;
    for (std::size_t i = 0; i < text_.size();) fn(decode(text_, i), parts);
    transform(parts);
  }

  /// Keeps only the characters for which `keeps` returns true. Dropped characters count as part of
  /// the kept one before them.
  template <class Fn>
  void keep(const Fn& keeps) {
    Parts parts;
    std::size_t removed = 0;
    for (std::size_t i = 0; i < text_.size();) {
      const char32_t code = decode(text_, i);
      if (keeps(code)) {
        parts.push_back({code, 0});
      } else if (parts.empty()) {
        ++removed;
      } else {
        --parts.back().change;
      }
    }
    transform(parts, removed);
  }

  void apply_one(const UnicodeNormalizer& part) {
    transform(NormalFormWriter{part.form}.parts(text_));
  }

  void apply_one(const Lowercase&) {
    for_each_character([](char32_t code, Parts& parts) {
      int change = 0;
      for (const char32_t one : lower(code)) parts.push_back({one, std::exchange(change, 1)});
    });
  }

  void apply_one(const StripAccents&) {
    keep([](char32_t code) { return !is_mark(code); });
  }

  void apply_one(const StripWhitespace& part) {
    std::size_t begin = 0;
    for (std::size_t i = 0; part.left && i < text_.size() && is_whitespace(decode(text_, i));) {
      begin = i;
    }
    std::string out;
    part.normalize(text_, out);
    text_ = std::move(out);
    front_ = std::min(front_ - std::min(front_, begin), text_.size());
  }

  void apply_one(const Replace& part) {
    std::string out;
    std::size_t front = 0;
    for (std::size_t i = 0; i < text_.size();) {
      const std::size_t begin = i;
      if (const std::size_t size = part.match(text_, i)) {
        out += part.content;
        i += size;
      } else {
        i += utf8_length(text_[i]);
        out.append(text_, begin, i - begin);
      }
      if (i <= front_) front = out.size();
    }
    text_ = std::move(out);
    front_ = front;
  }

  void apply_one(const Prepend& part) {
    if (text_.empty()) return;
    if (part.text.empty()) front_ = std::max(front_, utf8_length(text_[0]));
    if (front_ > 0) front_ += part.text.size();
    text_.insert(0, part.text);
  }

  void apply_one(const CharacterMap& part) {
    Parts parts;
    part.for_each_part(text_, [&](std::string_view old, std::string_view normal) {
      const auto wide = static_cast<int>(count_characters(old));
      int count = 0;
      for (std::size_t i = 0; i < normal.size();) {
        parts.push_back({decode(normal, i), count++ < wide ? 0 : 1});
      }
      if (count < wide && !parts.empty()) parts.back().change -= wide - count;
    });
    transform(parts);
  }

  void apply_one(const BertNormalizer& part) {
    if (part.clean_text) {
      keep([](char32_t code) { return code != 0 && code != 0xFFFD && !is_control(code); });
      for_each_character([](char32_t code, Parts& parts) {
        parts.push_back({is_whitespace(code) ? U' ' : code, 0});
      });
    }
    if (part.handle_chinese_chars) {
      for_each_character([](char32_t code, Parts& parts) {
        if (!is_ideograph(code)) return parts.push_back({code, 0});
        parts.insert(parts.end(), {{U' ', 0}, {code, 1}, {U' ', 1}});
      });
    }
    if (part.strips_accents()) {
      apply_one(UnicodeNormalizer{NormalForm::nfd});
      keep([](char32_t code) { return !is_nonspacing_mark(code); });
    }
    if (part.lowercase) apply_one(Lowercase{});
  }

  std::string text_;
  std::size_t front_ = 0;
};

}  // namespace seqtrain::text
