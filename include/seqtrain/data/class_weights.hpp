#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>

namespace seqtrain::data {

/// Returns weights that give all labels equal influence: examples / (labels × examples of the
/// label), as scikit-learn's "balanced" does. For multi-label classification they are (examples
/// without the label) / (examples with it), so that having a label weighs as much as not having it.
/// Rows without a label are not counted. Throws `InputError` if a label has no example.
inline std::vector<double> balanced_weights(const EncodedSet& set, const Labels& labels) {
  const bool several = labels.problem_type() == ProblemType::multi_label;
  std::vector<double> counts(labels.size());
  double labelled = 0;
  for (std::size_t row = 0; row < set.size(); ++row) {
    if (set.label(row) < 0) continue;
    ++labelled;
    const auto targets = set.targets(row);
    if (targets.empty()) ++counts.at(static_cast<std::size_t>(set.label(row)));
    for (std::size_t label = 0; label < targets.size(); ++label) {
      counts[label] += static_cast<double>(targets[label]);
    }
  }
  std::vector<double> weights;
  for (std::size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] == 0) {
      throw InputError{
          "label '" + labels.name(label) + "' has no example, so it cannot be weighted",
          {.object = "class weights"},
          "give the weights as numbers"};
    }
    weights.push_back(several ? std::max(labelled - counts[label], 1.0) / counts[label]
                              : labelled / (static_cast<double>(counts.size()) * counts[label]));
  }
  return weights;
}

}  // namespace seqtrain::data
