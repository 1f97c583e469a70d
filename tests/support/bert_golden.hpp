#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/wordpiece.hpp>
#include <seqtrain/text/normalizers/bert_normalizer.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::tests {

/// The contents of tests/golden/wordpiece.json: a small vocabulary, texts, and the results of the
/// `tokenizers` package for them with every setting of the normalizer.
class BertGolden {
 public:
  struct Case {
    text::BertNormalizer normalizer = {};
    std::vector<std::string> normal = {};         ///< normal forms of the first texts
    std::vector<std::vector<text::Id>> ids = {};  ///< ids of all texts; empty in most cases
    std::string sweep = {};                       ///< result of `sweep`; empty in most cases
  };

  BertGolden() : document_{json::Document::load(golden() / "wordpiece.json")} {
    for (const auto& token : document_.root().at("vocabulary").items()) {
      vocabulary_.emplace_back(token.string(), static_cast<text::Id>(vocabulary_.size()));
    }
    for (const auto& item : document_.root().at("texts").items()) {
      texts_.emplace_back(item.string());
    }
    for (const auto& item : document_.root().at("cases").items()) cases_.push_back(read(item));
  }

  [[nodiscard]] const std::vector<text::WordPiece::Entry>& vocabulary() const {
    return vocabulary_;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }

  /// Returns the checksum of `encode(text, ids)` for many code points, each in a text in which it
  /// stands alone, between letters, doubled, and between punctuation and a digit.
  template <class Encode>
  static std::string sweep(Encode encode) {
    std::uint64_t value = 0xCBF29CE484222325u;
    std::vector<text::Id> ids;
    for (char32_t code = 0; code <= 0x10FFFF; code += code < 0x3400 ? 1 : 37) {
      if (0xD800 <= code && code < 0xE000) continue;
      std::string c;
      text::append_utf8(c, code);
      ids.clear();
      encode(c + " a" + c + "b " + c + c + " ." + c + "1", ids);
      value = (value ^ ids.size()) * 0x100000001B3u;
      for (const text::Id id : ids)
        value = (value ^ static_cast<std::uint64_t>(id)) * 0x100000001B3u;
    }
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
    return digits;
  }

 private:
  static Case read(const json::Value& value) {
    const auto options = value.at("options");
    Case result{.normalizer = {.clean_text = options.at("clean_text").boolean(),
                               .handle_chinese_chars = options.at("handle_chinese_chars").boolean(),
                               .lowercase = options.at("lowercase").boolean()}};
    if (const auto strip = options.find("strip_accents")) {
      result.normalizer.strip_accents = strip->boolean();
    }
    for (const auto& text : value.at("normal").items()) result.normal.emplace_back(text.string());
    if (const auto sweep = value.find("sweep")) result.sweep = sweep->string();
    if (const auto rows = value.find("ids")) {
      for (const auto& row : rows->items()) {
        auto& ids = result.ids.emplace_back();
        for (const auto& id : row.items()) ids.push_back(static_cast<text::Id>(id.integer()));
      }
    }
    return result;
  }

  json::Document document_;  // owns the tokens of the vocabulary
  std::vector<text::WordPiece::Entry> vocabulary_;
  std::vector<std::string> texts_;
  std::vector<Case> cases_;
};

}  // namespace seqtrain::tests
