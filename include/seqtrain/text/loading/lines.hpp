#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text::detail {

/// Calls `fn(line, number)` for each line of a file. Numbers count from 1. Throws `InputError` if a
/// line is not UTF-8.
template <class Fn>
void for_each_line(const MappedFile& file, const std::filesystem::path& path, Fn&& fn) {
  std::string_view text = file.text();
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_valid_utf8(line)) {
      throw InputError{"not UTF-8", {.object = path.string(), .line = number}};
    }
    fn(line, number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace seqtrain::text::detail
