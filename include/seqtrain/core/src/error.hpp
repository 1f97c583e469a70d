#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>

namespace seqtrain {

namespace detail {

SEQTRAIN_SEPARATE std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string{text};
  const auto inside = [&](std::size_t place) { return (text[place] & 0xC0) == 0x80; };
  std::size_t begin = most / 2, end = text.size() - most / 2;
  while (begin > 0 && inside(begin)) --begin;
  while (end < text.size() && inside(end)) ++end;
  return std::string{text.substr(0, begin)} + "… (" + std::to_string(end - begin) + " bytes) …" +
         std::string{text.substr(end)};
}

SEQTRAIN_SEPARATE std::string without_controls(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') c = '?';
  }
  return text;
}

}  // namespace detail

SEQTRAIN_SEPARATE std::string Error::format(const std::string& problem, const Where& where,
                                            const std::string& advice) {
  constexpr std::size_t longest_object = 5000, longest_field = 300, longest_problem = 2000;
  const auto quoted = [](const std::string& name, std::size_t most) {
    return detail::without_controls(detail::shortened(name, most));
  };
  std::string text = quoted(where.object, longest_object);
  if (where.line > 0) text.append(":").append(std::to_string(where.line));
  if (!text.empty()) text += ": ";
  if (!where.field.empty()) text.append(quoted(where.field, longest_field)).append(": ");
  text += detail::shortened(problem, longest_problem);
  if (!advice.empty()) text.append("; ").append(advice);
  return text;
}

SEQTRAIN_SEPARATE void Demand::operator()(bool holds, std::string_view field,
                                          std::string_view expected) const {
  if (holds) return;
  throw InputError{std::string{expected},
                   {.object = std::string{object}, .field = std::string{field}}};
}

}  // namespace seqtrain
