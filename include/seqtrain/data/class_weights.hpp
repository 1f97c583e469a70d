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
  std::vector<std::size_t> counts(labels.size());
  std::size_t labelled = 0;
  for (std::size_t row = 0; row < set.size(); ++row) {
    if (set.label(row) < 0) continue;
    ++labelled;
    if (!several) ++counts.at(static_cast<std::size_t>(set.label(row)));
    for (std::size_t label = 0; several && label < labels.size(); ++label) {
      counts[label] += set.targets(row)[label] > 0.5F ? 1 : 0;
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
    const std::size_t others = labelled - counts[label];
    weights.push_back(several ? static_cast<double>(std::max<std::size_t>(others, 1)) /
                                    static_cast<double>(counts[label])
                              : static_cast<double>(labelled) /
                                    static_cast<double>(counts.size() * counts[label]));
  }
  return weights;
}

}  // namespace seqtrain::data
