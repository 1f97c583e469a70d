#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <seqtrain/report/table.hpp>

namespace seqtrain::report {

/// Returns text for a cell of a Markdown table: characters with a meaning in Markdown or HTML are
/// escaped, and control characters become spaces.
inline std::string markdown_cell(std::string_view text) {
  constexpr std::string_view markup = R"(\`*_[]|)";
  std::string cell;
  for (const char c : text) {
    if (c == '<') {
      cell += "&lt;";
    } else if (c == '&') {
      cell += "&amp;";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      cell += ' ';
    } else {
      if (markup.find(c) != std::string_view::npos) cell += '\\';
      cell += c;
    }
  }
  return cell;
}

/// Returns rows of cells as a Markdown table. The first row is its head.
inline std::string markdown_table(const Rows& rows) {
  std::string table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table += '|';
    for (const auto& cell : rows[i]) table += ' ' + markdown_cell(cell) + " |";
    table += '\n';
    if (i > 0) continue;
    table += '|';
    for (std::size_t column = 0; column < rows[0].size(); ++column) table += "---|";
    table += '\n';
  }
  return table;
}

}  // namespace seqtrain::report
