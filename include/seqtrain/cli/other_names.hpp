#pragma once

#include <array>
#include <string_view>

namespace seqtrain::cli {

/// An additional name of a flag.
struct OtherName {
  std::string_view name;
  std::string_view own;  ///< the flag's name in these programs
};

/// Names that Hugging Face's Trainer and its example programs give to flags.
inline constexpr std::array<OtherName, 8> other_names{{
    {"model-name-or-path", "model"},
    {"validation-file", "dev-file"},
    {"train-fraction", "fraction-of-train-data"},
    {"max-seq-length", "max-length"},
    {"per-device-train-batch-size", "batch-size"},
    {"num-train-epochs", "epochs"},
    {"num-epochs", "epochs"},
    {"save-steps", "checkpoint-every"},
}};

/// A flag of those programs that can only be true in these programs.
struct OnlyTrue {
  std::string_view name;
  std::string_view meaning;  ///< the statement that is true
};

inline constexpr std::array<OnlyTrue, 2> only_true{{
    {"do-train", "the program trains"},
    {"do-eval", "the program evaluates on the dev file after each epoch"},
}};

}  // namespace seqtrain::cli
