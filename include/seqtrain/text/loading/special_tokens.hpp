#pragma once

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/added_tokens.hpp>

namespace seqtrain::text {

/// Reads an added token as Hugging Face writes it: an object, or a string with its content.
[[nodiscard]] inline AddedToken read_added_token(const json::Value& value) {
  if (value.is_string()) return {.content = std::string{value.string()}};
  const auto flag = [&](std::string_view name, bool otherwise) {
    const auto found = value.find(name);
    return found ? found->boolean() : otherwise;
  };
  return {.content = std::string{value.at("content").string()},
          .single_word = flag("single_word", false),
          .lstrip = flag("lstrip", false),
          .rstrip = flag("rstrip", false),
          .normalized = flag("normalized", !flag("special", false))};
}

/// The settings of a folder's tokenizer_config.json. Settings that it lacks are read from
/// special_tokens_map.json. Either file may be absent.
class TokenizerConfig {
 public:
  explicit TokenizerConfig(const std::filesystem::path& folder) {
    for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
      if (std::filesystem::exists(folder / name)) {
        documents_.push_back(json::Document::load(folder / name));
      }
    }
  }

  /// Returns the value of `key`, or nothing if it is absent or null.
  [[nodiscard]] std::optional<json::Value> find(std::string_view key) const {
    for (const auto& document : documents_) {
      if (auto value = document.root().find(key)) return value;
    }
    return {};
  }

  [[nodiscard]] std::optional<bool> flag(std::string_view key) const {
    const auto value = find(key);
    return value ? std::optional{value->boolean()} : std::nullopt;
  }

  /// Returns the special token with a role, e.g. "pad_token", or `otherwise`.
  [[nodiscard]] AddedToken token(std::string_view role, AddedToken otherwise) const {
    const auto value = find(role);
    return value ? read_added_token(*value) : std::move(otherwise);
  }

  /// Returns the tokens of `added_tokens_decoder` in the order of their ids.
  [[nodiscard]] std::vector<AddedToken> added_tokens() const {
    std::vector<std::pair<int, AddedToken>> numbered;
    if (const auto decoder = find("added_tokens_decoder")) {
      for (const auto& [id, value] : decoder->members()) {
        numbered.emplace_back(number(id, value), read_added_token(value));
      }
    }
    std::ranges::stable_sort(numbered, {}, [](const auto& entry) { return entry.first; });
    std::vector<AddedToken> tokens;
    tokens.reserve(numbered.size());
    for (auto& [id, token] : numbered) tokens.push_back(std::move(token));
    return tokens;
  }

 private:
  static int number(std::string_view digits, const json::Value& where) {
    int result = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    if (code != std::errc{} || end != digits.data() + digits.size()) {
      throw where.error("expected ids as names");
    }
    return result;
  }

  std::vector<json::Document> documents_;
};

}  // namespace seqtrain::text
