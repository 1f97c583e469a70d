#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/baseline/sparse_rows.hpp>
#include <seqtrain/baseline/term_table.hpp>
#include <seqtrain/baseline/terms.hpp>
#include <seqtrain/baseline/tfidf.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/separate_compilation.hpp>

namespace seqtrain::baseline {

/// Says that no text has a term.
class NoTerms : public InputError {
 public:
  using InputError::InputError;
};

/// Options of `TfidfBuilder`.
struct TfidfOptions {
  TermOptions terms = {};
  std::string name = "training texts";  ///< for messages
  /// The terms that are kept are those that most texts have.
  std::size_t most_columns = std::size_t{1} << 18;
  std::size_t threads = 1;
};

/// Makes the rows of training texts, and the `Tfidf` that makes rows of other texts. It reads many
/// texts at once on several threads, and the result does not depend on their number.
class TfidfBuilder {
 public:
  explicit TfidfBuilder(const TfidfOptions& options = {}) : options_{options} {}

  /// Adds a text, which is copied, or a pair of texts.
  void add(std::string_view text, std::optional<std::string_view> pair = {}) {
    texts_.push_back({.text = std::string{text}, .pair = std::nullopt});
    if (pair) texts_.back().pair = std::string{*pair};
    bytes_ += text.size() + pair.value_or("").size();
    if (bytes_ >= most_bytes) read_texts();
  }

  /// Returns what makes rows of other texts, and moves the rows of the texts that were added to
  /// `rows`. Throws `NoTerms` if no text has a term.
  [[nodiscard]] Tfidf finish(SparseRows& rows);

 private:
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;
  static constexpr std::size_t shards = 64;  ///< the 6 highest bits of a term
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};

  struct Text {
    std::string text;
    std::optional<std::string> pair;
  };

  /// A term that gets a column. Its index is its index in its table and, in the lowest bits, the
  /// table.
  struct Kept {
    Term term;
    std::uint32_t texts;
    std::uint32_t index;
  };

  static std::size_t shard_of(Term term) { return term >> 58; }
  /// Returns the column of a term by its index, or `unknown`.
  [[nodiscard]] std::uint32_t& column_of(std::uint32_t index) {
    return columns_.at(index % shards)[index / shards];
  }

  /// Reads the texts that were added since the last call.
  void read_texts();
  void add_terms(std::size_t shard, const std::vector<CountedTerm>& terms, std::span<Entry> row);
  [[nodiscard]] std::vector<Kept> kept_terms();
  void weigh_rows(const std::vector<Kept>& kept, const std::vector<float>& weights);
  void weigh(std::span<Entry> row, const std::vector<Kept>& kept,
             const std::vector<float>& weights);

  TfidfOptions options_;
  std::vector<Text> texts_;
  std::size_t bytes_ = 0;
  SparseRows rows_;  ///< of counts; a column is the index of a `Kept`
  std::array<TermTable, shards> tables_;
  std::array<std::vector<std::uint32_t>, shards> columns_;
};

}  // namespace seqtrain::baseline

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/baseline/src/tfidf_builder.hpp>
#endif
