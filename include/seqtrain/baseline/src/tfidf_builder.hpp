#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <seqtrain/baseline/sparse_rows.hpp>
#include <seqtrain/baseline/term_table.hpp>
#include <seqtrain/baseline/terms.hpp>
#include <seqtrain/baseline/tfidf.hpp>
#include <seqtrain/baseline/tfidf_builder.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/ordered_workers.hpp>

namespace seqtrain::baseline {

SEQTRAIN_SEPARATE Tfidf TfidfBuilder::finish(SparseRows& rows) {
  read_texts();
  auto kept = kept_terms();
  if (kept.empty()) {
    throw NoTerms{
        "no text has a word", {.object = options_.name}, "name another field by --text-field"};
  }
  for (std::uint32_t column = 0; column < kept.size(); ++column) {
    column_of(kept[column].index) = column;
  }
  rows_.remove([this](const Entry& entry) { return column_of(entry.column) == unknown; });
  const auto texts = static_cast<double>(rows_.size());
  std::vector<float> weights;
  for (const Kept& term : kept) {
    weights.push_back(static_cast<float>(std::log((1 + texts) / (1.0 + term.texts)) + 1));
  }
  weigh_rows(kept, weights);
  std::vector<KnownTerm> terms;
  for (std::uint32_t column = 0; column < kept.size(); ++column) {
    terms.push_back({kept[column].term, column, weights[column]});
  }
  std::ranges::sort(terms, {}, &KnownTerm::term);
  rows = std::move(rows_);
  return Tfidf{std::move(terms), options_.terms};
}

/// Reads first the terms of each, then, for each
/// table at once, their numbers.
SEQTRAIN_SEPARATE void TfidfBuilder::read_texts() {
  std::vector<std::vector<CountedTerm>> read(texts_.size());
  const std::size_t strands = std::min(options_.threads, texts_.size());
  run_parallel(strands, strands, [&](std::size_t strand) {
    TermReader reader{options_.terms};
    for (std::size_t i = strand; i < texts_.size(); i += strands) {
      const auto terms = reader.read(texts_[i].text, texts_[i].pair);
      read[i].assign(terms.begin(), terms.end());
    }
  });
  const std::size_t first = rows_.size();
  for (const auto& terms : read) rows_.append(terms.size());
  run_parallel(options_.threads, shards, [&](std::size_t shard) {
    for (std::size_t i = 0; i < read.size(); ++i) add_terms(shard, read[i], rows_[first + i]);
  });
  texts_.clear();
  bytes_ = 0;
}

/// Numbers those terms of a text that belong to a table.
SEQTRAIN_SEPARATE void TfidfBuilder::add_terms(std::size_t shard,
                                               const std::vector<CountedTerm>& terms,
                                               std::span<Entry> row) {
  const auto begin = std::ranges::partition_point(
      terms, [shard](const CountedTerm& counted) { return shard_of(counted.term) < shard; });
  for (auto at = begin; at != terms.end() && shard_of(at->term) == shard; ++at) {
    const std::uint32_t index = tables_[shard].add(at->term);
    row[static_cast<std::size_t>(at - terms.begin())] = {
        index * std::uint32_t{shards} + static_cast<std::uint32_t>(shard),
        static_cast<float>(at->count)};
  }
}

/// Returns the terms in the order of their columns, those that most texts have first: they fill
/// most entries and so stay in the processor's caches.
SEQTRAIN_SEPARATE std::vector<TfidfBuilder::Kept> TfidfBuilder::kept_terms() {
  std::vector<Kept> all;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const TermTable& table = tables_[shard];
    columns_[shard].assign(table.size(), unknown);
    for (std::size_t i = 0; i < table.size(); ++i) {
      all.push_back(
          {table.term(i), table.texts(i), static_cast<std::uint32_t>(i * shards + shard)});
    }
  }
  const auto before = [](const Kept& a, const Kept& b) {
    return a.texts != b.texts ? a.texts > b.texts : a.term < b.term;
  };
  if (all.size() > options_.most_columns) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(options_.most_columns);
    std::ranges::nth_element(all, end, before);
    all.erase(end, all.end());
  }
  std::ranges::sort(all, before);
  return all;
}

/// Replaces the counts in all rows by weights.
SEQTRAIN_SEPARATE void TfidfBuilder::weigh_rows(const std::vector<Kept>& kept,
                                                const std::vector<float>& weights) {
  constexpr std::size_t rows_at_once = 256;
  const std::size_t tasks = (rows_.size() + rows_at_once - 1) / rows_at_once;
  run_parallel(options_.threads, tasks, [&](std::size_t task) {
    const std::size_t end = std::min(rows_.size(), (task + 1) * rows_at_once);
    for (std::size_t i = task * rows_at_once; i < end; ++i) weigh(rows_[i], kept, weights);
  });
}

SEQTRAIN_SEPARATE void TfidfBuilder::weigh(std::span<Entry> row, const std::vector<Kept>& kept,
                                           const std::vector<float>& weights) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    Entry& entry = row[i];
    const auto part = [&](std::size_t at) { return part_of(kept[row[at].column].term); };
    entry.column = column_of(entry.column);
    entry.value = weight_of_count(entry.value) * weights[entry.column];
    if (part(i) == part(begin)) continue;
    Tfidf::normalize(row.subspan(begin, i - begin));
    begin = i;
  }
  if (begin < row.size()) Tfidf::normalize(row.subspan(begin));
  std::ranges::sort(row, {}, &Entry::column);
}

}  // namespace seqtrain::baseline
