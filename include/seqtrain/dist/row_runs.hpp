#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::dist {

namespace detail {

inline void append(std::string& text, std::uint32_t value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::uint32_t number_at(const std::string& text, std::size_t& at) {
  std::uint32_t value = 0;
  if (text.size() < at + sizeof value) throw Error{"a short message from another process"};
  std::memcpy(&value, text.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

}  // namespace detail

/// Appends the number of runs of rows to a message, then the first row and the end of each run.
inline void append_runs(std::string& text, const tensor::RowSet& rows) {
  const std::size_t start = text.size();
  std::uint32_t runs = 0;
  detail::append(text, runs);
  rows.for_each_run([&](std::size_t first, std::size_t end) {
    detail::append(text, static_cast<std::uint32_t>(first));
    detail::append(text, static_cast<std::uint32_t>(end));
    ++runs;
  });
  std::memcpy(text.data() + start, &runs, sizeof runs);
}

/// Inserts the rows of the runs that a message has from byte `at` on, and moves `at` past them.
inline void insert_runs(const std::string& text, std::size_t& at, tensor::RowSet& rows) {
  for (std::uint32_t runs = detail::number_at(text, at); runs > 0; --runs) {
    const std::uint32_t first = detail::number_at(text, at);
    const std::uint32_t end = detail::number_at(text, at);
    if (first > end || end > rows.rows()) throw Error{"another process has a different model"};
    for (std::uint32_t row = first; row < end; ++row) rows.insert(row);
  }
}

}  // namespace seqtrain::dist
