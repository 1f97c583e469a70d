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

#include <seqtrain/serve/http_error.hpp>

namespace seqtrain::serve {

/// The head of an HTTP request: its first line and its header. All texts are views of the bytes
/// that were parsed.
///
/// `parse_head` takes less than other servers forgive. Whatever another server, in front of this
/// one, could read differently is refused, because the two must agree on where a request ends.
struct HttpHead {
  std::string_view method = {};
  std::string_view target = {};
  unsigned version = 11;  ///< 10 or 11
  std::vector<std::pair<std::string_view, std::string_view>> fields = {};

  bool chunked = false;      ///< whether the body comes in chunks
  std::uint64_t length = 0;  ///< the size of the body, unless it comes in chunks
  bool keep_alive = true;
  bool expects_continue = false;

  /// Returns the value of the first field with this name, or "".
  [[nodiscard]] std::string_view operator[](std::string_view name) const;
};

namespace http_syntax {

[[nodiscard]] inline HttpError bad(const std::string& problem) {
  return {400, error_type::validation, "not an HTTP/1.1 request: " + problem};
}

/// Tells whether a character may be in a name: of a method, a field or a coding.
[[nodiscard]] constexpr bool in_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}
[[nodiscard]] constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, in_token);
}
[[nodiscard]] constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}
[[nodiscard]] constexpr bool is_number(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Tells whether two names are the same; case does not count.
[[nodiscard]] constexpr bool equals(std::string_view a, std::string_view b) {
  constexpr auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return a.size() == b.size() && std::ranges::equal(a, b, {}, lower, lower);
}

[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

/// Calls `use` with each element of a list that is divided by commas.
template <class Use>
constexpr void for_each_element(std::string_view list, Use use) {
  for (;;) {
    const auto comma = list.find(',');
    use(trimmed(list.substr(0, comma)));
    if (comma == list.npos) return;
    list.remove_prefix(comma + 1);
  }
}

/// A host, and a port if one is given, as a URL or the field Host has them.
struct Authority {
  std::string_view host = {};  ///< with the brackets that are around an address of IPv6
  std::string_view port = {};  ///< with its colon
};

/// Returns the parts of a text that may be an authority.
[[nodiscard]] constexpr Authority split_authority(std::string_view text) {
  const auto literal_end = text.starts_with('[') ? std::min(text.find(']'), text.size()) : 0;
  const auto end = std::min(text.find(':', literal_end), text.size());
  return {text.substr(0, end), text.substr(end)};
}

/// Tells whether a text is a host, or a host with a port, as a URL or the field Host has it.
[[nodiscard]] constexpr bool is_authority(std::string_view text) {
  const auto [host, port] = split_authority(text);
  const auto in_literal = [](char c) {
    return std::string_view{"0123456789abcdefABCDEF:."}.find(c) != std::string_view::npos;
  };
  const auto in_name = [](char c) {
    return in_token(c) ? std::string_view{"#^`|"}.find(c) == std::string_view::npos
                       : std::string_view{"(),;="}.find(c) != std::string_view::npos;
  };
  if (host.starts_with('[')) {
    if (host.size() < 3 || !host.ends_with(']')) return false;
    if (!std::ranges::all_of(host.substr(1, host.size() - 2), in_literal)) return false;
  } else if (!std::ranges::all_of(host, in_name)) {
    return false;
  }
  return port.empty() || (port.front() == ':' && is_number(port.substr(1)));
}

/// Tells whether a target is a path, or a URL with a host; OPTIONS may also have "*".
[[nodiscard]] constexpr bool is_target(std::string_view target, std::string_view method) {
  if (std::ranges::any_of(target, [](char c) { return is_control(c) || c == ' '; })) return false;
  if (target.starts_with('/')) return true;
  if (target == "*") return method == "OPTIONS";
  const auto scheme = target.find("://");
  if (scheme == target.npos) return false;
  const auto name = target.substr(0, scheme);
  if (!equals(name, "http") && !equals(name, "https")) return false;
  const auto rest = target.substr(scheme + 3);
  const auto authority = rest.substr(0, rest.find_first_of("/?#"));
  return !authority.empty() && authority.front() != ':' && is_authority(authority);
}

/// Reads the line `METHOD TARGET HTTP/1.1`, which is given without its end.
inline void parse_first_line(std::string_view line, HttpHead& head) {
  const auto method_end = std::min(line.find(' '), line.size());
  const auto target_end = line.find(' ', method_end + 1);
  head.method = line.substr(0, method_end);
  if (!is_token(head.method)) throw bad("its method is not a word");
  if (target_end == line.npos) throw bad("its first line has no version");
  head.target = line.substr(method_end + 1, target_end - method_end - 1);
  const auto version = line.substr(target_end + 1);
  if (!is_target(head.target, head.method)) {
    throw bad("its target is neither a path nor a URL with a host");
  }
  if (version == "HTTP/1.1" || version == "HTTP/1.0") {
    head.version = version.back() == '1' ? 11 : 10;
    return;
  }
  const auto numbers = version.substr(std::min<std::size_t>(version.size(), 5));
  const bool other = version.starts_with("HTTP/") && !numbers.empty() &&
                     is_number(numbers.substr(0, 1)) &&
                     (numbers.size() == 1 ||
                      (numbers.size() == 3 && numbers[1] == '.' && is_number(numbers.substr(2))));
  if (!other) throw bad("its first line does not end with a version");
  throw HttpError{505, error_type::validation, "only HTTP/1.0 and HTTP/1.1 are supported"};
}

/// Reads the line `NAME: VALUE`, which is given without its end. A line that begins with a blank,
/// which once continued the line before it, has no name.
[[nodiscard]] inline std::pair<std::string_view, std::string_view> parse_field(
    std::string_view line) {
  const auto colon = line.find(':');
  if (colon == line.npos) throw bad("a line of its header has no colon");
  const auto name = line.substr(0, colon);
  if (!is_token(name)) throw bad("a name in its header is not a word right before a colon");
  const auto value = trimmed(line.substr(colon + 1));
  if (std::ranges::any_of(value, [](char c) { return is_control(c) && c != '\t'; })) {
    throw bad("a value in its header has a control character");
  }
  return {name, value};
}

/// Calls `use` with each line of a text in which every line ends with CR and LF.
template <class Use>
void for_each_line(std::string_view lines, Use use) {
  while (!lines.empty()) {
    const auto end = lines.find("\r\n");
    use(lines.substr(0, end));
    lines.remove_prefix(end + 2);
  }
}

/// Throws unless `Transfer-Encoding` says that the body comes in chunks and in no other coding.
inline void check_transfer_encoding(std::string_view value, unsigned version) {
  if (version < 11) throw bad("HTTP/1.0 has no Transfer-Encoding");
  std::size_t chunked = 0;
  bool last = false;
  bool words = true;
  for_each_element(value, [&](std::string_view coding) {
    last = equals(coding, "chunked");
    chunked += last ? 1 : 0;
    words = words && is_token(coding);
  });
  if (!words || chunked > 1 || (chunked == 1 && !last)) {
    throw bad("its Transfer-Encoding must be chunked");
  }
  if (equals(value, "chunked")) return;
  throw HttpError{501, error_type::validation,
                  "the only Transfer-Encoding that is supported is chunked"};
}

[[nodiscard]] inline std::uint64_t parse_length(std::string_view value) {
  std::uint64_t length = 0;
  const auto end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, length);
  if (value.empty() || stop != end || error != std::errc{} || !is_number(value)) {
    throw bad("its Content-Length is not a number");
  }
  return length;
}

/// Sets what the fields say about the connection and the body.
inline void interpret(HttpHead& head) {
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t codings = 0;
  bool close = false;
  bool stay = false;
  for (const auto& [name, value] : head.fields) {
    if (equals(name, "host")) {
      if (++hosts > 1 || !is_authority(value)) throw bad("its Host must be one host");
    } else if (equals(name, "content-length")) {
      if (++lengths > 1) throw bad("it has two Content-Lengths");
      head.length = parse_length(value);
    } else if (equals(name, "transfer-encoding")) {
      if (++codings > 1) throw bad("it has two Transfer-Encodings");
      check_transfer_encoding(value, head.version);
      head.chunked = true;
    } else if (equals(name, "connection")) {
      for_each_element(value, [&](std::string_view option) {
        close = close || equals(option, "close");
        stay = stay || equals(option, "keep-alive");
      });
    } else if (equals(name, "expect")) {
      head.expects_continue = head.version >= 11 && equals(value, "100-continue");
    }
  }
  if (codings + lengths > 1) throw bad("it has both a Content-Length and a Transfer-Encoding");
  if (head.version >= 11 && hosts == 0) throw bad("it has no Host");
  head.keep_alive = !close && (stay || head.version >= 11);
}

}  // namespace http_syntax

inline std::string_view HttpHead::operator[](std::string_view name) const {
  for (const auto& [own, value] : fields) {
    if (http_syntax::equals(own, name)) return value;
  }
  return {};
}

/// Parses a head, which ends with an empty line. Throws an `HttpError` if it is wrong or if it
/// leaves a doubt where its request ends.
[[nodiscard]] inline HttpHead parse_head(std::string_view bytes) {
  HttpHead head;
  head.fields.reserve(16);
  const auto end = bytes.find("\r\n");
  http_syntax::parse_first_line(bytes.substr(0, end), head);
  http_syntax::for_each_line(
      bytes.substr(end + 2, bytes.size() - end - 4),
      [&](std::string_view line) { head.fields.push_back(http_syntax::parse_field(line)); });
  http_syntax::interpret(head);
  return head;
}

}  // namespace seqtrain::serve
