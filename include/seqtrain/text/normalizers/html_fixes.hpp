#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {
namespace detail {

/// Names of the characters from U+00A0 to U+00FF. These names and `short_names` need no `;`.
inline constexpr std::array<std::string_view, 96> latin_names{
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",
    "copy",   "ordf",   "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn",
    "sup2",   "sup3",   "acute",  "micro",  "para",   "middot", "cedil",  "sup1",   "ordm",
    "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",  "Atilde",
    "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",   "Igrave",
    "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde",
    "Ouml",   "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",
    "szlig",  "agrave", "aacute", "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil",
    "egrave", "eacute", "ecirc",  "euml",   "igrave", "iacute", "icirc",  "iuml",   "eth",
    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide", "oslash", "ugrave",
    "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};

using NamedCharacter = std::pair<std::string_view, char32_t>;

inline constexpr std::array<NamedCharacter, 4> short_names{
    {{"amp", U'&'}, {"lt", U'<'}, {"gt", U'>'}, {"quot", U'"'}}};

inline constexpr std::array<NamedCharacter, 30> long_names{
    {{"apos", U'\''},    {"OElig", 0x152},   {"oelig", 0x153},   {"Scaron", 0x160},
     {"scaron", 0x161},  {"Yuml", 0x178},    {"fnof", 0x192},    {"circ", 0x2C6},
     {"tilde", 0x2DC},   {"ensp", 0x2002},   {"emsp", 0x2003},   {"thinsp", 0x2009},
     {"ndash", 0x2013},  {"mdash", 0x2014},  {"lsquo", 0x2018},  {"rsquo", 0x2019},
     {"sbquo", 0x201A},  {"ldquo", 0x201C},  {"rdquo", 0x201D},  {"bdquo", 0x201E},
     {"dagger", 0x2020}, {"Dagger", 0x2021}, {"bull", 0x2022},   {"hellip", 0x2026},
     {"permil", 0x2030}, {"lsaquo", 0x2039}, {"rsaquo", 0x203A}, {"euro", 0x20AC},
     {"trade", 0x2122},  {"minus", 0x2212}}};

/// Returns the character with a name, or 0. `closed` tells that a `;` follows the name.
[[nodiscard]] inline char32_t named_character(std::string_view name, bool closed) {
  const auto has_name = [&](const NamedCharacter& entry) { return entry.first == name; };
  const auto latin = std::ranges::find(latin_names, name);
  if (latin != latin_names.end()) return 0xA0 + static_cast<char32_t>(latin - latin_names.begin());
  const auto short_one = std::ranges::find_if(short_names, has_name);
  if (short_one != short_names.end()) return short_one->second;
  const auto long_one = std::ranges::find_if(long_names, has_name);
  return closed && long_one != long_names.end() ? long_one->second : 0;
}

/// Appends the character of a numeric reference by the rules of the HTML standard: numbers from
/// 0x80 on follow Windows-1252, and invalid numbers give nothing or U+FFFD.
inline void append_numbered(std::string& out, std::uint32_t number) {
  constexpr std::u32string_view windows = U"€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ";
  const auto within = [number](std::uint32_t first, std::uint32_t last) {
    return first <= number && number <= last;
  };
  if (number == 0 || within(0xD800, 0xDFFF) || number > 0x10FFFF) {
    append_utf8(out, 0xFFFD);
  } else if (within(0x80, 0x9F)) {
    append_utf8(out, windows[number - 0x80]);
  } else if (!within(0x1, 0x8) && number != 0xB && !within(0xE, 0x1F) && number != 0x7F &&
             !within(0xFDD0, 0xFDEF) && (number & 0xFFFE) != 0xFFFE) {
    append_utf8(out, number);
  }
}

/// Returns the value of a digit, or 16.
[[nodiscard]] inline std::uint32_t digit_of(char c) {
  if ('0' <= c && c <= '9') return static_cast<std::uint32_t>(c - '0');
  if ('a' <= (c | 0x20) && (c | 0x20) <= 'f')
    return static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
  return 16;
}

/// Appends the character of the numeric reference `&#…` at the start of `text`. Returns the length
/// of the reference, or 0 if there is none.
[[nodiscard]] inline std::size_t append_if_numbered(std::string& out, std::string_view text) {
  const bool hexadecimal = text.size() > 2 && (text[2] | 0x20) == 'x';
  const std::uint32_t base = hexadecimal ? 16 : 10;
  const std::size_t begin = hexadecimal ? 3 : 2;
  std::uint32_t number = 0;
  std::size_t end = begin;
  for (; end < text.size() && digit_of(text[end]) < base; ++end) {
    number = std::min(number * base + digit_of(text[end]), std::uint32_t{0x110000});
  }
  if (end == begin) return 0;
  append_numbered(out, number);
  return end + (text.substr(end).starts_with(';') ? 1 : 0);
}

/// Appends the character of the named reference at the start of `text`. Without a `;` the longest
/// name counts. Returns the length of the reference, or 0 if there is none.
[[nodiscard]] inline std::size_t append_if_named(std::string& out, std::string_view text) {
  constexpr std::size_t longest = 8;
  const auto in_name = [&](std::size_t i) {
    return digit_of(text[i]) < 10 || ('a' <= (text[i] | 0x20) && (text[i] | 0x20) <= 'z');
  };
  std::size_t end = 1;
  while (end < text.size() && end <= longest && in_name(end)) ++end;
  for (bool closed = text.substr(end).starts_with(';'); end > 2; --end, closed = false) {
    const char32_t code = named_character(text.substr(1, end - 1), closed);
    if (code == 0) continue;
    append_utf8(out, code);
    return end + (closed ? 1 : 0);
  }
  return 0;
}

/// Replaces character references as Python's `html.unescape` does. It knows the names of Latin-1
/// and of typography.
[[nodiscard]] inline std::string unescape_html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('&'), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t length = text.substr(1).starts_with('#') ? append_if_numbered(out, text)
                                                         : append_if_named(out, text);
    if (length == 0) out += text[length++];
    text.remove_prefix(length);
  }
  return out;
}

inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t end = text.find(from);
  if (end == std::string::npos) return;
  std::string out;
  std::size_t begin = 0;
  for (; end != std::string::npos; end = text.find(from, begin)) {
    out.append(text, begin, end - begin).append(to);
    begin = end + from.size();
  }
  text = std::move(out.append(text, begin));
}

}  // namespace detail

/// Replaces remains of HTML and of other tokenizers by plain text, as fastai's `fix_html` does.
[[nodiscard]] inline std::string fix_html(std::string_view given) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> references{
      {{"#39;", "'"},
       {"amp;", "&"},
       {"#146;", "'"},
       {"nbsp;", " "},
       {"#36;", "$"},
       {"quot;", "'"}}};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> others{{{"\\n", "\n"},
                                                                                 {"<br />", "\n"},
                                                                                 {"\\\"", "\""},
                                                                                 {"<unk>", "xxunk"},
                                                                                 {" @.@ ", "."},
                                                                                 {" @-@ ", "-"},
                                                                                 {"...", " …"}}};
  std::string text{given};
  if (text.find(';') != std::string::npos) {
    for (const auto& [from, to] : references) detail::replace_all(text, from, to);
  }
  for (const auto& [from, to] : others) detail::replace_all(text, from, to);
  return text.find('&') == std::string::npos ? text : detail::unescape_html(text);
}

}  // namespace seqtrain::text
