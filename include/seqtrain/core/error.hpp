#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace seqtrain {

/// Where something went wrong. Every part may be left empty.
struct Where {
  std::string object = {};  ///< a file, a tensor, a flag, an address
  std::int64_t line = 0;    ///< counted from 1; 0 when lines mean nothing here
  std::string field = {};   ///< a JSON field, a column
};

/// The root of everything that seqtrain throws: where it happened, what happened, and what to do
/// about it, in one line `object:line: field: problem; advice`.
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

/// Wrong usage or input: a flag, a file or a checkpoint that cannot be worked with. A program ends
/// with exit code 2 on it, before anything is written; on any other `Error` with 1.
class InputError : public Error {
 public:
  using Error::Error;
};

}  // namespace seqtrain
