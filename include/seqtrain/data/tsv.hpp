#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/lines.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

/// Splits a line at its tabs into `cells`. Quotes have no meaning, as in GLUE's files.
inline void split_tsv(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (;;) {
    const std::size_t tab = line.find('\t');
    cells.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return;
    line.remove_prefix(tab + 1);
  }
}

/// Calls `visit` with each line of `part` as an example. `part` belongs to the source and begins
/// after its header. Empty lines are skipped.
template <class Visit>
void read_tsv(const Source& source, std::string_view part, const Columns& columns,
              const Fields& fields, Visit&& visit) {
  const bool all_utf8 = text::is_valid_utf8(part);
  ColumnLabels labels{fields.label_columns, fields.label_as_json};
  std::vector<std::string_view> cells;
  while (!part.empty()) {
    const std::string_view line = take_line(part);
    if (line.empty()) continue;
    if (!all_utf8) source.demand_utf8(line);
    split_tsv(line, cells);
    visit(columns.example(cells, line, source, labels));
  }
}

}  // namespace seqtrain::data
