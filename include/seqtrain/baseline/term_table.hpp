#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <seqtrain/baseline/terms.hpp>

namespace seqtrain::baseline {

/// Numbers terms in the order in which they come, and counts for each the texts that have it.
class TermTable {
 public:
  /// Counts one more text with this term. Returns the term's index.
  std::uint32_t add(Term term) {
    if (2 * (terms_.size() + 1) > slots_.size()) grow();
    const std::size_t slot = slot_of(term);
    if (slots_[slot] == none) {
      slots_[slot] = static_cast<std::uint32_t>(terms_.size());
      terms_.push_back(term);
      texts_.push_back(0);
    }
    ++texts_[slots_[slot]];
    return slots_[slot];
  }

  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  /// Returns the term with this index, in the order of insertion.
  [[nodiscard]] Term term(std::size_t index) const { return terms_[index]; }
  /// Returns the number of texts that have the term.
  [[nodiscard]] std::uint32_t texts(std::size_t index) const { return texts_[index]; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  [[nodiscard]] std::size_t slot_of(Term term) const {
    std::size_t slot = term & (slots_.size() - 1);
    while (slots_[slot] != none && terms_[slots_[slot]] != term) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), none);
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      slots_[slot_of(terms_[i])] = static_cast<std::uint32_t>(i);
    }
  }

  std::vector<Term> terms_;
  std::vector<std::uint32_t> texts_;
  std::vector<std::uint32_t> slots_;  ///< indices of terms; their number is a power of two
};

}  // namespace seqtrain::baseline
