#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>

namespace seqtrain::hub {

/// A value in the part of YAML that `read_yaml` reads.
struct YamlNode {
  /// The form of a value.
  enum class Kind { text, list, map };

  Kind kind = Kind::text;
  std::string key = {};  ///< the key of a map's member
  /// The text as written, without quotes; empty if there is no value.
  std::string text = {};
  std::vector<YamlNode> items = {};    ///< the items of a list
  std::vector<YamlNode> members = {};  ///< the members of a map
  std::int64_t line = 0;

  /// Returns a member of a map, or null.
  [[nodiscard]] const YamlNode* find(std::string_view name) const {
    const auto found = std::ranges::find(members, name, &YamlNode::key);
    return found == members.end() ? nullptr : &*found;
  }
};

namespace detail {

/// Reads maps and lists by indentation, texts on one line with or without quotes, and lists of
/// such texts in brackets on one line. Everything else of YAML is refused.
class YamlParser {
 public:
  YamlParser(std::string_view text, std::string file, std::int64_t first_line)
      : file_{std::move(file)} {
    for (std::int64_t number = first_line; !text.empty(); ++number) {
      const auto end = std::min(text.find('\n'), text.size());
      add_line(text.substr(0, end), number);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  YamlNode parse() {
    if (lines_.empty()) return {};
    auto node = block(0);
    if (at_ < lines_.size()) fail("is indented by fewer spaces than the lines before it", line());
    return node;
  }

 private:
  struct Line {
    std::size_t indent;
    std::string_view text;  ///< the line without indentation and without spaces at its end
    std::int64_t number;
  };

  [[noreturn]] void fail(const std::string& problem, const Line& line) const {
    throw InputError{problem,
                     {.object = file_, .line = line.number},
                     "only a simple part of YAML is read here; download the data and name its "
                     "files instead"};
  }

  void add_line(std::string_view text, std::int64_t number) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    const auto indent = text.find_first_not_of(' ');
    if (indent == text.npos || text[indent] == '#') return;
    lines_.push_back({indent, text.substr(indent), number});
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
    if (std::ranges::any_of(text, is_control)) {
      fail("has a tab or another control character", lines_.back());
    }
  }

  Line& line() { return lines_[at_]; }
  [[nodiscard]] bool more(std::size_t indent) const {
    return at_ < lines_.size() && lines_[at_].indent == indent;
  }
  static bool is_item(const Line& line) { return line.text == "-" || line.text.starts_with("- "); }

  YamlNode block(std::size_t depth) {
    if (depth > 20) fail("is nested too deeply", line());
    return is_item(line()) ? list(depth) : map(depth);
  }

  YamlNode list(std::size_t depth) {
    YamlNode node{.kind = YamlNode::Kind::list, .line = line().number};
    const auto indent = line().indent;
    while (more(indent) && is_item(line())) {
      auto& item = line();
      const auto skipped = std::min(item.text.find_first_not_of(' ', 1), item.text.size());
      if (skipped == item.text.size()) {
        ++at_;
        node.items.push_back(at_ < lines_.size() && line().indent > indent
                                 ? block(depth + 1)
                                 : YamlNode{.line = item.number});
        continue;
      }
      item.indent += skipped;  // a block of its own, or a text, follows the dash
      item.text.remove_prefix(skipped);
      if (is_item(item) || key_length(item)) {
        node.items.push_back(block(depth + 1));
      } else {
        node.items.push_back(value(item.text, item));
        ++at_;
      }
    }
    refuse_deeper(indent);
    return node;
  }

  YamlNode map(std::size_t depth) {
    YamlNode node{.kind = YamlNode::Kind::map, .line = line().number};
    const auto indent = line().indent;
    std::set<std::string> keys;
    while (more(indent) && !is_item(line())) {
      const Line present = line();
      const auto length = key_length(present);
      if (!length || *length == 0) fail("is neither 'key: value' nor an item of a list", present);
      auto key = value(present.text.substr(0, *length), present);
      if (key.kind != YamlNode::Kind::text) fail("has a key that is not a text", present);
      if (!keys.insert(key.text).second) fail("has '" + key.text + "' again", present);
      const auto rest = trimmed_left(present.text.substr(*length + 1));
      ++at_;
      node.members.push_back(member(rest, present, depth));
      node.members.back().key = std::move(key.text);
    }
    refuse_deeper(indent);
    return node;
  }

  YamlNode member(std::string_view rest, const Line& present, std::size_t depth) {
    if (!rest.empty() && rest.front() != '#') return value(rest, present);
    const bool deeper = at_ < lines_.size() && line().indent > present.indent;
    const bool list_here = more(present.indent) && is_item(line());
    if (deeper || list_here) return block(depth + 1);
    return {.line = present.number};
  }

  void refuse_deeper(std::size_t indent) {
    if (at_ < lines_.size() && line().indent > indent) {
      fail("continues the line before it, or is indented by more spaces", line());
    }
  }

  static std::string_view trimmed_left(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text;
  }

  /// Returns the length of the key with which a line begins, up to its colon.
  [[nodiscard]] std::optional<std::size_t> key_length(const Line& line) const {
    std::size_t colon = 0;
    if (line.text.front() == '"' || line.text.front() == '\'') {
      std::string ignored;
      colon = quoted(line.text, line, ignored);
    } else {
      while (colon < line.text.size() && !ends_key(line.text, colon)) ++colon;
    }
    if (colon >= line.text.size() || !ends_key(line.text, colon)) return {};
    return colon;
  }
  static bool ends_key(std::string_view text, std::size_t at) {
    return text[at] == ':' && (at + 1 == text.size() || text[at + 1] == ' ');
  }

  YamlNode value(std::string_view text, const Line& line) const {
    if (text.front() != '[') return scalar(text, line, "");
    YamlNode node{.kind = YamlNode::Kind::list, .line = line.number};
    text = trimmed_left(text.substr(1));
    while (!text.starts_with(']')) {
      node.items.push_back(scalar(text, line, ",]"));
      text = trimmed_left(text);
      if (text.starts_with(',')) {
        text = trimmed_left(text.substr(1));
      } else if (!text.starts_with(']')) {
        fail("has a bracket that is not closed on its line", line);
      }
    }
    demand_end(text.substr(1), line);
    return node;
  }

  /// Reads a text. If `ends` is not empty, the text is one of several in brackets: it ends before
  /// one of these characters and is removed from `text`.
  YamlNode scalar(std::string_view& text, const Line& line, std::string_view ends) const {
    YamlNode node{.line = line.number};
    if (text.starts_with('"') || text.starts_with('\'')) {
      text.remove_prefix(quoted(text, line, node.text));
      if (ends.empty()) demand_end(text, line);
      return node;
    }
    if (text.empty()) fail("has a bracket that is not closed on its line", line);
    if (std::string_view{"&*!|>%@`{}[]#,"}.find(text.front()) != std::string_view::npos) {
      fail("has a value that begins with " + std::string{text.front()}, line);
    }
    std::size_t end = 0;
    while (end < text.size() && ends.find(text[end]) == ends.npos &&
           !(text[end] == '#' && text[end - 1] == ' ')) {
      if (ends_key(text, end)) fail("has a colon in a text without quotes", line);
      ++end;
    }
    node.text = text.substr(0, end);
    node.text.erase(node.text.find_last_not_of(' ') + 1);
    if (node.text == "null" || node.text == "~") node.text.clear();
    text.remove_prefix(end);
    return node;
  }

  void demand_end(std::string_view rest, const Line& line) const {
    if (rest.empty() || trimmed_left(rest).empty() || trimmed_left(rest).front() == '#') return;
    fail("has text after the end of a value", line);
  }

  /// Appends the quoted text with which `text` begins, without its quotes. Returns its length with
  /// them.
  std::size_t quoted(std::string_view text, const Line& line, std::string& out) const {
    const char quote = text.front();
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == quote) {
        const bool twice = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
        if (!twice) return i + 1;
        ++i;
      } else if (text[i] == '\\' && quote == '"') {
        if (++i == text.size()) break;
        constexpr std::string_view known = "\"\\/tn", meaning = "\"\\/\t\n";
        const auto which = known.find(text[i]);
        if (which == known.npos) fail("has an unknown escape sequence", line);
        out += meaning[which];
        continue;
      }
      out += text[i];
    }
    fail("has a quote that is not closed on its line", line);
  }

  std::string file_;
  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

}  // namespace detail

/// Reads the part of YAML that the cards of data sets need: maps and lists by indentation, and
/// texts on one line. Throws `InputError` with file and line on anything else.
[[nodiscard]] inline YamlNode read_yaml(std::string_view text, const std::string& file,
                                        std::int64_t first_line = 1) {
  return detail::YamlParser{text, file, first_line}.parse();
}

}  // namespace seqtrain::hub
