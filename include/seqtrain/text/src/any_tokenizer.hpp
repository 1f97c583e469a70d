#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::text {

SEQTRAIN_SEPARATE AnyTokenizer::AnyTokenizer(Family tokenizer,
                                             std::vector<std::filesystem::path> files,
                                             std::vector<std::string> warnings,
                                             std::size_t max_length, const Windows& windows)
    : tokenizer_{std::make_unique<Family>(std::move(tokenizer))},
      files_{std::move(files)},
      warnings_{std::move(warnings)},
      max_length_{max_length},
      windows_{windows} {}

SEQTRAIN_SEPARATE AnyTokenizer::AnyTokenizer(const AnyTokenizer& other)
    : tokenizer_{std::make_unique<Family>(*other.tokenizer_)},
      files_{other.files_},
      warnings_{other.warnings_},
      max_length_{other.max_length_},
      windows_{other.windows_},
      chosen_{other.chosen_} {}

SEQTRAIN_SEPARATE AnyTokenizer::AnyTokenizer(AnyTokenizer&&) noexcept = default;

SEQTRAIN_SEPARATE AnyTokenizer& AnyTokenizer::operator=(const AnyTokenizer& other) {
  return *this = AnyTokenizer{other};
}

SEQTRAIN_SEPARATE AnyTokenizer& AnyTokenizer::operator=(AnyTokenizer&&) noexcept = default;

SEQTRAIN_SEPARATE AnyTokenizer::~AnyTokenizer() = default;

SEQTRAIN_SEPARATE std::size_t AnyTokenizer::vocab_size() const {
  return visit([](const auto& tokenizer) { return tokenizer.vocab_size(); });
}

SEQTRAIN_SEPARATE Id AnyTokenizer::pad_id() const {
  return visit([](const auto& tokenizer) { return tokenizer.pad_id(); });
}

SEQTRAIN_SEPARATE std::size_t AnyTokenizer::special_tokens(bool pair) const {
  return visit([&](const auto& tokenizer) { return tokenizer.special_tokens(pair); });
}

SEQTRAIN_SEPARATE void AnyTokenizer::set_long_texts(LongTexts way, std::size_t max_length,
                                                    const Windows& windows) {
  std::visit([&](auto& tokenizer) { tokenizer.set_long_texts(way); }, *tokenizer_);
  chosen_ = way;
  windows_ = windows;
  if (max_length > 0) max_length_ = max_length;
}

SEQTRAIN_SEPARATE void AnyTokenizer::set_change(const TextChange& change) {
  std::visit([&](auto& tokenizer) { tokenizer.set_change(change); }, *tokenizer_);
}

SEQTRAIN_SEPARATE LongTexts AnyTokenizer::long_texts() const {
  return visit([](const auto& tokenizer) { return tokenizer.long_texts(); });
}

SEQTRAIN_SEPARATE std::optional<Windows> AnyTokenizer::windows() const {
  return visit([&](const auto& tokenizer) -> std::optional<Windows> {
    if (tokenizer.long_texts() != LongTexts::windows) return {};
    return Windows{.length = max_length_,
                   .stride = windows_.stride,
                   .pooling = windows_.pooling,
                   .templates = tokenizer.templates(),
                   .pad_id = tokenizer.pad_id()};
  });
}

[[nodiscard]] SEQTRAIN_SEPARATE std::optional<Id> unknown_id(const AnyTokenizer& tokenizer) {
  return tokenizer.visit([](const auto& known) { return unknown_id(known); });
}

}  // namespace seqtrain::text
