#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace seqtrain::data {

/// A label as a file writes it.
struct LabelSpelling {
  std::string name;
  std::size_t examples = 0;  ///< the number of examples that have it
};

/// Takes the spellings of a label that are joined, and the name of the joined label. A function
/// that is empty means that labels are not joined.
using JoinLabels =
    std::function<void(std::span<const LabelSpelling> spellings, const std::string& name)>;

}  // namespace seqtrain::data
