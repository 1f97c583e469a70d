#pragma once

#include <string>
#include <string_view>

namespace seqtrain::data {

/// Appends a text to a line of CSV, in quotes if RFC 4180 demands them.
inline void append_csv_cell(std::string& line, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

}  // namespace seqtrain::data
