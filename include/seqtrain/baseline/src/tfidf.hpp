#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <seqtrain/baseline/sparse_rows.hpp>
#include <seqtrain/baseline/terms.hpp>
#include <seqtrain/baseline/tfidf.hpp>

namespace seqtrain::baseline {

SEQTRAIN_SEPARATE void Tfidf::find(std::string_view text, std::optional<std::string_view> pair,
                                   TermReader& reader, std::vector<CountedIndex>& found) const {
  found.clear();
  auto known = terms_.begin();
  for (const auto& [term, count] : reader.read(text, pair)) {
    known = std::lower_bound(known, terms_.end(), term,
                             [](const KnownTerm& a, Term b) { return a.term < b; });
    if (known == terms_.end()) break;
    if (known->term != term) continue;
    found.push_back({static_cast<std::size_t>(known - terms_.begin()), count});
  }
}

SEQTRAIN_SEPARATE void Tfidf::weigh(std::span<const CountedIndex> found,
                                    std::vector<Entry>& row) const {
  row.clear();
  std::array<std::size_t, parts + 1> ends{};
  for (const auto& [index, count] : found) {
    const KnownTerm& known = terms_[index];
    row.push_back({known.column, weight_of_count(static_cast<float>(count)) * known.weight});
    ends.at(part_of(known.term) + 1) = row.size();
  }
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (end > begin) normalize(std::span{row}.subspan(begin, end - begin));
    begin = std::max(begin, end);
  }
}

SEQTRAIN_SEPARATE void Tfidf::normalize(std::span<Entry> entries) {
  double squares = 0;
  for (const Entry& entry : entries) {
    squares += static_cast<double>(entry.value) * static_cast<double>(entry.value);
  }
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (Entry& entry : entries) entry.value *= scale;
}

}  // namespace seqtrain::baseline
