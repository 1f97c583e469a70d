#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/core/text_similarity.hpp>

namespace seqtrain::cli {

/// A flag of other programs that train, and what to write here.
struct FamiliarFlag {
  std::string_view name;
  std::string_view advice;
  std::string_view own = {};  ///< the flag that the advice needs
};

/// Flags of Hugging Face's Trainer and of common scripts that these programs do not have.
inline constexpr std::array<FamiliarFlag, 16> familiar_flags{{
    {"lr", "use --learning-rate", "learning-rate"},
    {"fp16", "use --precision fp16", "precision"},
    {"bf16", "use --precision bf16", "precision"},
    {"no-cuda", "use --device cpu", "device"},
    {"use-cpu", "use --device cpu", "device"},
    {"gpu", "use --device cuda", "device"},
    {"eval-strategy", "the dev examples are evaluated after each epoch", "dev-file"},
    {"evaluation-strategy", "the dev examples are evaluated after each epoch", "dev-file"},
    {"save-strategy", "use --checkpoint-every or --checkpoint-minutes", "checkpoint-every"},
    {"save-total-limit", "use --keep-checkpoints", "keep-checkpoints"},
    {"logging-steps", "use --log-every", "log-every"},
    {"load-best-model-at-end", "use --best-model", "best-model"},
    {"num-labels", "the labels are those of the training file; --labels a,b,c names them",
     "labels"},
    {"per-device-eval-batch-size", "evaluation chooses its own batches; see --batch-size",
     "batch-size"},
    {"resume-from-checkpoint", "use --resume auto, or --resume with a checkpoint's path", "resume"},
    {"text-column-name", "use --text-field", "text-field"},
}};

/// Returns the name that is most like `wrong`, or an empty one if none is like it.
[[nodiscard]] inline std::string_view most_like(std::string_view wrong,
                                                std::span<const std::string> names) {
  std::size_t least = std::min<std::size_t>(2, wrong.size() / 3) + 1;
  std::string_view chosen;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance < least) {
      least = distance;
      chosen = name;
    }
  }
  if (!chosen.empty() || wrong.size() < 3) return chosen;
  const auto extends = [&](std::string_view name) {
    return name.starts_with(wrong) || wrong.starts_with(std::string{name} + "-");
  };
  const auto found = std::ranges::find_if(names, extends);
  return found == names.end() ? std::string_view{} : std::string_view{*found};
}

/// Returns the advice for a flag that a program does not have: the flag that was meant, or else how
/// to list all flags.
[[nodiscard]] inline std::string advice_for_unknown(std::string_view wrong,
                                                    std::span<const std::string> names,
                                                    const std::string& program) {
  const auto known = std::ranges::find(familiar_flags, wrong, &FamiliarFlag::name);
  const auto has = [&](std::string_view name) { return std::ranges::count(names, name) > 0; };
  if (known != familiar_flags.end() && (known->own.empty() || has(known->own))) {
    return std::string{known->advice};
  }
  const auto meant = most_like(wrong, names);
  if (!meant.empty()) return "did you mean --" + std::string{meant} + "?";
  return "see " + program + " --help";
}

}  // namespace seqtrain::cli
