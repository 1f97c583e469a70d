#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/text/loading/added_vocabulary.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>

namespace seqtrain::text {

/// The special tokens and the added tokens of a folder: those of tokenizer_config.json,
/// special_tokens_map.json, added_tokens.json and tokenizer.json, merged as transformers 5 merges
/// them. If tokenizer_config.json has `added_tokens_decoder`, the other files are not read.
class SpecialTokens {
 public:
  static constexpr std::array<std::string_view, 7> roles{
      "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

  explicit SpecialTokens(const TokenizerFolder& folder) {
    if (const auto settings = folder.settings()) read_settings(*settings);
    if (const auto decoder = folder.setting("added_tokens_decoder")) {
      for (const auto& [id, token] : decoder->members()) {
        list(number(id, token), read_declared_token(token));
      }
    } else {
      if (const auto map = folder.special_tokens_map()) read_map(*map);
      if (const auto tokens = folder.added_tokens()) read_added_tokens(*tokens);
      if (const auto file = folder.tokenizer()) read_tokenizer(*file);
    }
    for (auto& named : named_) {
      if (!named.token) continue;
      const auto listed = by_content_.find(named.token->content);
      if (listed != by_content_.end()) named.token = listed->second;
    }
  }

  /// Gives a role the token that its class takes if no file names one.
  void fall_back(std::string_view role, std::string content) {
    Named& named = of(role);
    if (named.given) return;
    named.given = true;
    named.token = DeclaredToken{.content = std::move(content), .is_string = true};
  }

  /// Makes the mask token take the spaces before it, unless a file says its flags.
  void let_mask_take_spaces() {
    auto& mask = of("mask_token").token;
    if (mask && mask->is_string) *mask = {.content = mask->content, .lstrip = true};
  }

  /// Takes strings for objects without flags.
  void make_objects_of_strings() {
    for (auto& named : named_) {
      if (named.token && named.token->is_string) {
        named.token = DeclaredToken{.content = named.token->content, .special = false};
      }
    }
  }

  /// Returns the token with a role. Throws `InputError` if there is none.
  [[nodiscard]] const std::string& at(std::string_view role) const {
    if (const auto& token = find(role)) return token->content;
    throw InputError{"the tokenizer has no " + std::string{role}};
  }

  /// Returns the token of a role, or nothing.
  [[nodiscard]] const std::optional<DeclaredToken>& find(std::string_view role) const {
    return named_[place(role)].token;
  }

  /// Sets the tokens without a role, unless tokenizer_config.json has such tokens.
  void set_additional(std::vector<DeclaredToken> tokens) { additional_ = std::move(tokens); }
  [[nodiscard]] bool has_additional() const noexcept { return additional_.has_value(); }

  /// Adds all tokens in the order in which transformers adds them.
  void add_to(AddedVocabulary& added) const {
    std::vector<DeclaredToken> tokens;
    std::unordered_set<std::string> known;
    for (const auto& [id, token] : decoder_) {
      if (added.has(token)) continue;
      tokens.push_back(token);
      known.insert(token.content);
    }
    std::unordered_set<std::string> once;
    const auto add_new = [&](const DeclaredToken& token) {
      if (known.contains(token.content) || added.has(token.content)) return;
      if (once.insert(token.content + token.flags()).second) tokens.push_back(token);
    };
    std::unordered_set<std::string> with_role;
    for_each_with_role([&](const DeclaredToken& token) {
      add_new(token);
      with_role.insert(token.content);
    });
    for (const auto& token : has_extra_ ? extra_ : additional_.value_or(Tokens{})) add_new(token);
    for (auto& token : tokens) {
      if (with_role.contains(token.content)) token.special = true;
      added.add(token);
    }
  }

 private:
  /// The token of a role. `given` without a token says that a file has null.
  struct Named {
    bool given = false;
    std::optional<DeclaredToken> token = {};
    bool makes_special = false;  ///< added_tokens.json's token of this name is special
  };
  using Tokens = std::vector<DeclaredToken>;
  using OtherRoles = std::vector<std::pair<std::string, DeclaredToken>>;

  static std::size_t place(std::string_view role) {
    return static_cast<std::size_t>(std::ranges::find(roles, role) - roles.begin());
  }

  Named& of(std::string_view role) { return named_[place(role)]; }

  /// Reads a member of a file if it is a token with a role.
  void read_member(std::string_view key, const json::Value& value, bool of_map) {
    const bool object = value.is_object() && (of_map || value.find("__type"));
    if (std::ranges::count(roles, key) > 0) {
      of(key) = {.given = true, .makes_special = value.is_string() || of_map};
      if (!value.element().is_null()) of(key).token = read_declared_token(value, of_map);
    } else if (key.ends_with("_token") && (object || value.is_string())) {
      set(object || of_map ? found_roles_ : other_roles_, key, read_declared_token(value, of_map));
    }
  }

  static void set(OtherRoles& others, std::string_view role, DeclaredToken token) {
    const auto known = std::ranges::find(others, role, &OtherRoles::value_type::first);
    if (known != others.end()) return void(known->second = std::move(token));
    others.emplace_back(role, std::move(token));
  }

  void read_settings(const json::Value& settings) {
    for (const auto& [key, value] : settings.members()) read_member(key, value, false);
    const auto extra = settings.find("extra_special_tokens");
    const auto additional = settings.find("additional_special_tokens");
    const bool has_roles = extra && extra->is_object() && !extra->members().empty();
    if (has_roles) read_roles(*extra);
    has_extra_ = extra && extra->is_array();
    if (has_extra_) read_extra(*extra);
    if (additional && has_roles) {
      additional_ = read_list(*additional);
    } else if (additional && extra_.empty()) {
      read_extra(*additional);
    }
    const auto others = settings.find("model_specific_special_tokens");
    if (others && other_roles_.empty()) read_roles(*others);
  }

  void read_extra(const json::Value& tokens) {
    has_extra_ = true;
    extra_ = read_list(tokens);
    for (const auto& token : tokens.items()) {
      if (token.is_string()) special_extra_.emplace(token.string());
    }
  }

  void read_roles(const json::Value& tokens) {
    for (const auto& [role, token] : tokens.members()) {
      set(other_roles_, role, read_declared_token(token));
    }
  }

  static std::vector<DeclaredToken> read_list(const json::Value& list) {
    std::vector<DeclaredToken> tokens;
    for (const auto& token : list.items()) tokens.push_back(read_declared_token(token));
    return tokens;
  }

  void read_map(const json::Value& map) {
    for (const auto& [key, value] : map.members()) {
      if (key == "additional_special_tokens" && value.is_array()) {
        additional_ = read_list(value);
      } else if (key == "extra_special_tokens" && value.is_array()) {
        has_extra_ = true;
        for (const auto& token : value.items()) {
          extra_.push_back(read_declared_token(token, true));
          special_extra_.insert(extra_.back().content);
        }
      } else if (key == "extra_special_tokens" && value.is_object()) {
        read_roles(value);
      } else {
        read_member(key, value, true);
      }
    }
  }

  /// Reads added_tokens.json. A token is special if another file has it as a special one, but not
  /// as an object in tokenizer_config.json.
  void read_added_tokens(const json::Value& ids) {
    std::unordered_set<std::string> special = special_extra_;
    for (const auto& named : named_) {
      if (named.token && named.makes_special) special.insert(named.token->content);
    }
    for (const auto& [content, id] : ids.members()) {
      const bool is_special = special.contains(std::string{content});
      list(id.integer(),
           {.content = std::string{content}, .special = is_special, .normalized = !is_special});
    }
  }

  void read_tokenizer(const json::Value& file) {
    const auto tokens = file.find("added_tokens");
    if (!tokens) return;
    for (const auto& token : tokens->items()) {
      const auto id = token.find("id");
      list(id ? id->integer() : 0, read_declared_token(token));
    }
  }

  void list(std::int64_t id, DeclaredToken token) {
    by_content_.insert_or_assign(token.content, token);
    decoder_.insert_or_assign(id, std::move(token));
  }

  static std::int64_t number(std::string_view digits, const json::Value& where) {
    if (const auto id = parse_number<std::int64_t>(digits)) return *id;
    throw where.error("expected ids as names");
  }

  template <class Fn>
  void for_each_with_role(const Fn& fn) const {
    for (const auto& named : named_) {
      if (named.token) fn(*named.token);
    }
    OtherRoles others = found_roles_;
    for (const auto& [role, token] : other_roles_) set(others, role, token);
    for (const auto& [role, token] : others) fn(token);
  }

  std::array<Named, roles.size()> named_;
  OtherRoles found_roles_;  ///< tokens of other roles that come first
  OtherRoles other_roles_;
  bool has_extra_ = false;
  std::vector<DeclaredToken> extra_;
  std::unordered_set<std::string> special_extra_;  ///< make tokens of added_tokens.json special
  std::optional<std::vector<DeclaredToken>> additional_;  ///< used only without `has_extra_`
  std::map<std::int64_t, DeclaredToken> decoder_;         ///< the added tokens by their ids
  std::unordered_map<std::string, DeclaredToken> by_content_;
};

}  // namespace seqtrain::text
