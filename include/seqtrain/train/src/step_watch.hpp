#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/train/options.hpp>
#include <seqtrain/train/step_watch.hpp>

namespace seqtrain::train {

SEQTRAIN_SEPARATE std::optional<SkippedStep> StepWatch::settle() {
  if (!open()) return {};
  Open oldest = std::move(open_.front());
  open_.pop_front();
  if (oldest.outcome.problem().empty()) return {};
  std::string problem = oldest.description + ": " + oldest.outcome.problem();
  const auto scale = oldest.outcome.loss_scale();
  if (scale) problem += " with a loss scale of " + std::to_string(std::llround(*scale));
  problem += "; the step was not taken";
  const bool skips = scale ? *scale > 1 : policy_ == OnNonfinite::skip;
  if (skips) return SkippedStep{oldest.step, std::move(problem)};
  throw NonfiniteGradient{problem,
                          {},
                          scale ? "lower the learning rate, or train in fp32"
                                : "lower the learning rate, check a loss or a head of your own, "
                                  "or let such steps be skipped"};
}

}  // namespace seqtrain::train
