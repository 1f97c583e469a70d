#pragma once

#include <cstddef>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>

namespace seqtrain::data {

/// Returns weights that give all labels equal influence: examples / (labels × examples of the
/// label), as scikit-learn's "balanced" does. Rows without a label are not counted. Throws
/// `InputError` if a label has no example.
inline std::vector<double> balanced_weights(const EncodedSet& set, const Labels& labels) {
  std::vector<std::size_t> counts(labels.size());
  std::size_t labelled = 0;
  for (std::size_t row = 0; row < set.size(); ++row) {
    if (set.label(row) < 0) continue;
    ++counts.at(static_cast<std::size_t>(set.label(row)));
    ++labelled;
  }
  std::vector<double> weights;
  for (std::size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] == 0) {
      throw InputError{
          "label '" + labels.name(label) + "' has no example, so it cannot be weighted",
          {.object = "class weights"},
          "give the weights as numbers"};
    }
    weights.push_back(static_cast<double>(labelled) /
                      static_cast<double>(counts.size() * counts[label]));
  }
  return weights;
}

}  // namespace seqtrain::data
