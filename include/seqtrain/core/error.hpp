#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/separate_compilation.hpp>

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
SEQTRAIN_SEPARATE std::string shortened(std::string_view text, std::size_t most);

/// Returns a name from a file without characters that would end a line or steer a terminal.
SEQTRAIN_SEPARATE std::string without_controls(std::string text);

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
                            const std::string& advice);

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

  void operator()(bool holds, std::string_view field, std::string_view expected) const;
};

}  // namespace seqtrain

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/core/src/error.hpp>
#endif
