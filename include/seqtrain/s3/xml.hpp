#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>

namespace seqtrain::s3 {

/// An element of a document in XML. Attributes and namespaces are left out.
struct Element {
  std::string name;
  std::string text;  ///< what stands directly in the element, without its children
  std::vector<Element> children;

  /// Returns the first child with a name, or null.
  [[nodiscard]] const Element* find(std::string_view child) const {
    for (const auto& one : children) {
      if (one.name == child) return &one;
    }
    return nullptr;
  }

  /// Returns the text of the first child with a name, or an empty text.
  [[nodiscard]] std::string text_of(std::string_view child) const {
    const auto* const found = find(child);
    return found == nullptr ? "" : found->text;
  }
};

/// Reads a service's answer in XML. It refuses document types, so there are no entities but the
/// five of XML and numbers of characters; there may be 100,000 elements, 16 deep.
class XmlReader {
 public:
  /// Returns the root element. Throws `InputError`, which names `where`, if the text is not such a
  /// document.
  static Element parse(std::string_view text, const Where& where = {}) {
    XmlReader reader{text, where};
    reader.skip_between();
    Element root;
    if (!reader.take('<')) reader.fail("no element");
    reader.read_element(root, 0);
    reader.skip_between();
    if (!reader.rest_.empty()) reader.fail("something after the root element");
    return root;
  }

 private:
  XmlReader(std::string_view text, const Where& where) : rest_{text}, where_{where} {}

  [[noreturn]] void fail(const char* problem) const {
    throw InputError{"an answer is not in XML: " + std::string{problem}, where_};
  }

  bool take(char c) {
    const bool found = rest_.starts_with(c);
    if (found) rest_.remove_prefix(1);
    return found;
  }
  bool take(std::string_view text) {
    const bool found = rest_.starts_with(text);
    if (found) rest_.remove_prefix(text.size());
    return found;
  }
  /// Returns what stands before `end`, and moves past it.
  std::string_view until(std::string_view end) {
    const auto found = rest_.find(end);
    if (found == rest_.npos) fail("has no end");
    const auto before = rest_.substr(0, found);
    rest_.remove_prefix(found + end.size());
    return before;
  }
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  /// Skips spaces, comments and instructions outside of elements.
  void skip_between() {
    while (true) {
      skip_spaces();
      if (take("<?")) {
        until("?>");
      } else if (take("<!--")) {
        until("-->");
      } else {
        return;
      }
    }
  }

  std::string_view read_name() {
    const auto end = rest_.find_first_of(" \t\r\n/>=<&\"'");
    if (end == 0 || end == rest_.npos) fail("no name");
    const auto name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }

  /// Skips the attributes of a tag. Returns true if the element has no content.
  bool finish_tag() {
    while (true) {
      skip_spaces();
      if (take('>')) return false;
      if (take("/>")) return true;
      read_name();
      skip_spaces();
      if (!take('=')) fail("an attribute without a value");
      skip_spaces();
      const char quote = rest_.empty() ? '\0' : rest_.front();
      if (quote != '"' && quote != '\'') fail("an attribute without quotes");
      rest_.remove_prefix(1);
      if (until({&quote, 1}).find('<') != std::string_view::npos) fail("'<' in an attribute");
    }
  }

  /// Reads an element after its `<`.
  void read_element(Element& element, int depth) {
    constexpr int deepest = 16;
    if (depth == deepest) fail("too deep");
    if (++elements_ > 100'000) fail("too many elements");
    element.name = read_name();
    if (finish_tag()) return;
    while (true) {
      const auto end = rest_.find_first_of("<&");
      if (end == rest_.npos) fail("an element without an end");
      element.text += rest_.substr(0, end);
      rest_.remove_prefix(end);
      if (take('&')) {
        element.text += read_reference();
      } else if (take("<!--")) {
        until("-->");
      } else if (take("<![CDATA[")) {
        element.text += until("]]>");
      } else if (take("</")) {
        return read_end(element);
      } else {
        take('<');
        read_element(element.children.emplace_back(), depth + 1);
      }
    }
  }

  void read_end(const Element& element) {
    if (read_name() != element.name) fail("the end of another element");
    skip_spaces();
    if (!take('>')) fail("an end tag with more than a name");
  }

  /// Returns the character that a reference such as `&lt;` or `&#34;` means.
  std::string read_reference() {
    if (rest_.substr(0, 12).find(';') == rest_.npos) fail("'&' without a reference");
    const auto name = until(";");
    constexpr std::pair<std::string_view, char> known[] = {
        {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (const auto& [entity, meaning] : known) {
      if (name == entity) return {meaning};
    }
    if (!name.starts_with('#')) fail("an unknown entity");
    const bool is_hex = name.starts_with("#x");
    const auto digits = name.substr(is_hex ? 2 : 1);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hex ? 16 : 10);
    const bool whole = error == std::errc{} && end == digits.data() + digits.size();
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    if (!whole || code == 0 || surrogate || code > 0x10FFFF) fail("no character has this number");
    return utf8(code);
  }

  static std::string utf8(std::uint32_t code) {
    const auto last = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), last(0)};
    if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), last(6), last(0)};
    return {static_cast<char>(0xF0 | code >> 18), last(12), last(6), last(0)};
  }

  std::string_view rest_;
  const Where& where_;
  int elements_ = 0;
};

}  // namespace seqtrain::s3
