#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <seqtrain/cli/flag_text.hpp>

namespace seqtrain::cli {

/// Returns the greatest number of ids of an example: the number that the user gives. If that is 0
/// it is the model's maximum, or the tokenizer's if that is less. Throws `InputError` if the number
/// is above the model's maximum.
inline std::size_t example_length(std::int64_t asked_for, std::int64_t of_model,
                                  std::size_t of_tokenizer) {
  require(asked_for >= 0, "max-length", "must not be negative");
  require(asked_for <= of_model, "max-length",
          std::to_string(asked_for) + " is above the model's " + std::to_string(of_model));
  if (asked_for == 0) return std::min(static_cast<std::size_t>(of_model), of_tokenizer);
  return static_cast<std::size_t>(asked_for);
}

}  // namespace seqtrain::cli
