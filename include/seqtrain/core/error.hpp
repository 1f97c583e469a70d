#pragma once

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

/// The base of all exceptions that seqtrain throws. `what()` is one line, `object:line: field:
/// problem; advice`: where it happened, what happened and what to do.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& problem, Where where = {}, const std::string& advice = {})
      : std::runtime_error{format(problem, where, advice)}, where_{std::move(where)} {}

  [[nodiscard]] const Where& where() const noexcept { return where_; }

 private:
  static std::string format(const std::string& problem, const Where& where,
                            const std::string& advice) {
    std::string text = where.object;
    if (where.line > 0) text.append(":").append(std::to_string(where.line));
    if (!text.empty()) text += ": ";
    if (!where.field.empty()) text.append(where.field).append(": ");
    text += problem;
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
