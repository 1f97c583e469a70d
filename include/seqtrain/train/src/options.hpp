#pragma once

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>

#include <seqtrain/concepts/schedule.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/train/options.hpp>

namespace seqtrain::train {

SEQTRAIN_SEPARATE void FitOptions::validate() const {
  const Demand demand{"fit"};
  demand(epochs >= 1 || max_steps >= 1, "epochs", "must be at least 1");
  demand(max_steps >= 0, "max_steps", "must not be negative");
  demand(gradient_accumulation_steps >= 1, "gradient_accumulation_steps", "must be at least 1");
  demand(early_stopping_patience >= 0, "early_stopping_patience", "must not be negative");
  demand(max_grad_norm > 0, "max_grad_norm", "must be above 0");
  schedule.validate();
  checkpoint.validate();
}

SEQTRAIN_SEPARATE Pairs FitOptions::settings() const {
  const auto exact = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return std::string{text};
  };
  Pairs pairs{
      {"gradient_accumulation_steps", std::to_string(gradient_accumulation_steps)},
      {"max_grad_norm", exact(max_grad_norm)},
      {"lr_scheduler_type", std::string{name(schedule.type)}},
      {"warmup_steps", std::to_string(schedule.warmup_steps)},
      {"warmup_ratio", exact(schedule.warmup_ratio)},
      {"on_nonfinite", on_nonfinite == OnNonfinite::skip ? "skip" : "stop"},
      {"early_stopping_patience", std::to_string(early_stopping_patience)},
      {"metric_for_best_model", metric_for_best_model},
      {"greater_is_better", greater_is_better ? (*greater_is_better ? "true" : "false") : ""}};
  if (schedule.type == optim::Schedule::Type::one_cycle) {
    const auto& cycle = schedule.one_cycle;
    for (const auto& [name, value] : {std::pair{"div", cycle.div},
                                      {"div_final", cycle.div_final},
                                      {"pct_start", cycle.pct_start},
                                      {"momentum_high", cycle.momentum_high},
                                      {"momentum_low", cycle.momentum_low}}) {
      pairs.emplace_back(name, exact(value));
    }
  }
  std::ranges::copy(more_settings, std::back_inserter(pairs));
  return pairs;
}

}  // namespace seqtrain::train
