#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_head.hpp>

/// Bodies in the two forms of HTML: `application/x-www-form-urlencoded`, which `curl -d` and
/// `--data-urlencode` send, and `multipart/form-data`, which `curl -F` sends.
namespace seqtrain::serve::forms {

/// A `Content-Type`: a type with parameters.
class ContentType {
 public:
  explicit ContentType(std::string_view header) {
    const auto end = std::min(header.find(';'), header.size());
    type_ = http_syntax::trimmed(header.substr(0, end));
    parameters_ = header.substr(std::min(end + 1, header.size()));
  }

  /// Tells whether this is the type; case does not count.
  [[nodiscard]] bool is(std::string_view type) const { return http_syntax::equals(type_, type); }

  /// Returns the value of a parameter, without quotes around it, or nothing.
  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const {
    for (std::string_view rest = parameters_; !rest.empty();) {
      const auto equals = std::min(rest.find('='), rest.size());
      const auto found = http_syntax::trimmed(rest.substr(0, equals));
      rest.remove_prefix(std::min(equals + 1, rest.size()));
      const bool quoted = rest.starts_with('"');
      const auto end = std::min(quoted ? rest.find('"', 1) : rest.find(';'), rest.size());
      const auto value = rest.substr(quoted ? 1 : 0, quoted ? end - 1 : end);
      if (http_syntax::equals(found, name)) return value;
      const auto next = rest.find(';', std::min(end, rest.size()));
      rest = next == rest.npos ? std::string_view{} : rest.substr(next + 1);
    }
    return {};
  }

 private:
  std::string_view type_, parameters_;
};

namespace detail {

/// Returns the field that TorchServe's handlers read: `data`, or `body` if that is absent or empty.
inline std::optional<std::string> preferred(std::optional<std::string> data,
                                            std::optional<std::string> body) {
  const bool first = data && (!data->empty() || !body);
  return first ? std::move(data) : std::move(body);
}

inline std::optional<std::string> url_encoded(std::string_view form) {
  std::optional<std::string> data, body;
  for (const std::string_view field : split(form, '&')) {
    const auto equals = field.find('=');
    if (equals == field.npos) continue;
    std::string value{field.substr(equals + 1)};
    std::ranges::replace(value, '+', ' ');
    const auto name = field.substr(0, equals);
    if (name == "data" && !data) data = percent_decode(value);
    if (name == "body" && !body) body = percent_decode(value);
  }
  return preferred(std::move(data), std::move(body));
}

/// Returns the name of a part of a form, given the part's header.
inline std::string_view name_of_part(std::string_view header) {
  for (const std::string_view line : split(header, '\n')) {
    const auto colon = std::min(line.find(':'), line.size());
    const auto field = http_syntax::trimmed(line.substr(0, colon));
    if (!http_syntax::equals(field, "Content-Disposition")) continue;
    auto value = line.substr(std::min(colon + 1, line.size()));
    if (value.ends_with('\r')) value.remove_suffix(1);
    return ContentType{value}.parameter("name").value_or("");
  }
  return {};
}

inline std::optional<std::string> multipart(std::string_view form, std::string_view boundary) {
  const auto wrong = [](const std::string& what) {
    return HttpError{400, error_type::validation, "the form " + what};
  };
  const std::string mark = std::string{"--"}.append(boundary), next = "\r\n" + mark;
  std::optional<std::string> data, body;
  auto at = form.starts_with(mark) ? 0 : form.find(next);
  if (at == form.npos) throw wrong("does not begin with the boundary of Content-Type");
  at += at == 0 ? mark.size() : next.size();
  while (!form.substr(at).starts_with("--")) {
    const auto header_end = form.find("\r\n\r\n", at);
    const auto end = header_end == form.npos ? form.npos : form.find(next, header_end + 2);
    if (end == form.npos) throw wrong("has no end: the last boundary is missing");
    const auto name = name_of_part(form.substr(at, header_end - at));
    const auto begin = std::min(header_end + 4, end);
    std::string value{form.substr(begin, end - begin)};
    if (name == "data" && !data) data = std::move(value);
    if (name == "body" && !body) body = std::move(value);
    at = end + next.size();
  }
  return preferred(std::move(data), std::move(body));
}

}  // namespace detail

/// Returns the field `data`, else `body`, of a form, or nothing if the body is no form or, of
/// `application/x-www-form-urlencoded`, which `curl -d` says of any body, has neither. Throws a
/// `HttpError` with status 400 for a multipart form without them or a damaged one.
[[nodiscard]] inline std::optional<std::string> field_of(std::string_view content_type,
                                                         std::string_view body) {
  const ContentType type{content_type};
  if (type.is("application/x-www-form-urlencoded")) return detail::url_encoded(body);
  if (!type.is("multipart/form-data")) return {};
  const auto boundary = type.parameter("boundary");
  if (!boundary || boundary->empty() || boundary->size() > 200) {
    throw HttpError{400, error_type::validation, "multipart/form-data needs a boundary"};
  }
  auto value = detail::multipart(body, *boundary);
  if (value) return value;
  throw HttpError{400, error_type::validation, "the form has neither the field data nor body"};
}

/// Throws an `HttpError` with status 415 if a text is in another character set than UTF-8.
inline void check_charset(std::string_view content_type) {
  const auto charset = ContentType{content_type}.parameter("charset");
  if (!charset) return;
  for (const std::string_view good : {"utf-8", "utf8", "us-ascii"}) {
    if (http_syntax::equals(http_syntax::trimmed(*charset), good)) return;
  }
  throw HttpError{415, error_type::validation, "the body's charset is not supported; send UTF-8"};
}

}  // namespace seqtrain::serve::forms
