#pragma once

#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>

namespace seqtrain::dist {

/// The way in which the gradients of several processes are summed. `exact` sums by one tree over
/// the parts of a step, so the bits do not depend on the number of processes. `ring` uses the
/// all-reduce of the communication library, whose bits depend on it.
enum class Reduction { exact, ring };

/// Returns the reduction with this name. Throws `InputError` if there is none.
[[nodiscard]] inline Reduction reduction_named(std::string_view name) {
  if (name == "exact") return Reduction::exact;
  if (name == "ring") return Reduction::ring;
  throw InputError{"unknown reduction '" + std::string{name} + "'", {}, "use exact or ring"};
}

}  // namespace seqtrain::dist
