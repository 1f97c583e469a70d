#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace seqtrain {

/// The place of an error. Every part may be left empty.
struct Where {
  std::string object = {};  ///< a file, a tensor, a flag, an address
  std::int64_t line = 0;    ///< counted from 1; 0 if the object has no lines
  std::string field = {};   ///< a JSON field, a column
};

namespace detail {

/// Returns the start and the end of a text that has more than `most` bytes, and says how many bytes
/// it leaves out. Characters of UTF-8 stay whole.
inline std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string{text};
  const auto inside = [&](std::size_t place) { return (text[place] & 0xC0) == 0x80; };
  std::size_t begin = most / 2, end = text.size() - most / 2;
  while (begin > 0 && inside(begin)) --begin;
  while (end < text.size() && inside(end)) ++end;
  return std::string{text.substr(0, begin)} + "… (" + std::to_string(end - begin) + " bytes) …" +
         std::string{text.substr(end)};
}

/// Returns a name from a file without characters that would end a line or steer a terminal.
inline std::string without_controls(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') c = '?';
  }
  return text;
}

}  // namespace detail

/// The base of all exceptions that seqtrain throws. `what()` is one line, `object:line: field:
/// problem; advice`: where it happened, what happened and what to do. Long names and problems,
/// which may quote a file, are shortened.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& problem, Where where = {}, const std::string& advice = {})
      : std::runtime_error{format(problem, where, advice)}, where_{std::move(where)} {}

  [[nodiscard]] const Where& where() const noexcept { return where_; }

 private:
  static std::string format(const std::string& problem, const Where& where,
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

  Where where_;
};

/// An error of usage or input, such as a flag, a file or a checkpoint that is wrong. A program ends
/// with exit code 2 on it, and with 1 on any other `Error`.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Throws `InputError` about a field of `object` unless a condition holds.
struct Demand {
  std::string_view object;

  void operator()(bool holds, std::string_view field, std::string_view expected) const {
    if (holds) return;
    throw InputError{std::string{expected},
                     {.object = std::string{object}, .field = std::string{field}}};
  }
};

}  // namespace seqtrain
