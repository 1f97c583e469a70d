#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/baseline/sparse_rows.hpp>
#include <seqtrain/baseline/terms.hpp>
#include <seqtrain/core/separate_compilation.hpp>

namespace seqtrain::baseline {

/// Returns the part of a weight that the count of a term in a text gives: its logarithm and 1.
[[nodiscard]] inline float weight_of_count(float count) {
  return 1 + std::log(count);
}

/// A term that the training texts have: its column, and the weight that it has because other texts
/// have it too.
struct KnownTerm {
  Term term = 0;
  std::uint32_t column = 0;
  float weight = 0;  ///< the inverse document frequency
};

/// A known term of a text: its index among the terms, and how often the text has it.
struct CountedIndex {
  std::size_t index = 0;
  std::uint32_t count = 0;
};

/// The weights of the terms of texts (TF-IDF), as scikit-learn's `TfidfVectorizer` computes them
/// with `sublinear_tf=True`. Each part of a row has the length 1.
class Tfidf {
 public:
  /// `terms` are in ascending order of `term`; their columns are 0 to terms.size() - 1.
  explicit Tfidf(std::vector<KnownTerm> terms, const TermOptions& options = {})
      : terms_{std::move(terms)}, options_{options} {}

  [[nodiscard]] std::size_t columns() const { return terms_.size(); }
  [[nodiscard]] const std::vector<KnownTerm>& terms() const { return terms_; }
  [[nodiscard]] const TermOptions& options() const { return options_; }

  /// Sets `found` to the terms of a text that are known, in ascending order.
  void find(std::string_view text, std::optional<std::string_view> pair, TermReader& reader,
            std::vector<CountedIndex>& found) const;

  /// Sets `row` to the weights of the terms that `find` has found in a text.
  void weigh(std::span<const CountedIndex> found, std::vector<Entry>& row) const;

  /// Scales entries so that the sum of their squares is 1.
  static void normalize(std::span<Entry> entries);

 private:
  std::vector<KnownTerm> terms_;
  TermOptions options_;
};

}  // namespace seqtrain::baseline

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/baseline/src/tfidf.hpp>
#endif
