#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>

namespace seqtrain::optim {

/// The learning rate's factor over a run, closed-form in the step, so that a resumed run needs no
/// history. The shapes are those of transformers' `get_scheduler`: the factor climbs linearly from
/// 0 over the warm-up, then stays (`constant`), falls linearly to 0 (`linear`), or follows half a
/// cosine down to 0 (`cosine`).
struct Schedule {
  enum class Type { constant, linear, cosine };

  Type type = Type::constant;
  std::int64_t warmup_steps = 0;
  double warmup_ratio = 0;  ///< a share of all steps, rounded up; used where warmup_steps is 0

  /// The factor at `step` (counted from 0) of `steps`.
  [[nodiscard]] double lr_scale(std::int64_t step, std::int64_t steps) const {
    const std::int64_t warmup = warmup_of(steps);
    if (step < warmup) return static_cast<double>(step) / static_cast<double>(warmup);
    if (type == Type::constant) return 1;
    const auto rest = static_cast<double>(std::max<std::int64_t>(1, steps - warmup));
    const double progress = std::min(1.0, static_cast<double>(step - warmup) / rest);
    if (type == Type::linear) return 1 - progress;
    return 0.5 * (1 + std::cos(std::numbers::pi * progress));
  }

  void validate() const {
    if (warmup_steps < 0) {
      throw InputError{"must not be negative", {.object = "schedule", .field = "warmup_steps"}};
    }
    if (!(warmup_ratio >= 0 && warmup_ratio <= 1)) {
      throw InputError{"must lie between 0 and 1", {.object = "schedule", .field = "warmup_ratio"}};
    }
  }

 private:
  [[nodiscard]] std::int64_t warmup_of(std::int64_t steps) const {
    if (warmup_steps > 0) return warmup_steps;
    return static_cast<std::int64_t>(std::ceil(warmup_ratio * static_cast<double>(steps)));
  }
};

/// "constant", "linear" or "cosine".
inline Schedule::Type schedule_type(std::string_view name) {
  if (name == "constant") return Schedule::Type::constant;
  if (name == "linear") return Schedule::Type::linear;
  if (name == "cosine") return Schedule::Type::cosine;
  throw InputError{"unknown schedule '" + std::string{name} + "'",
                   {.object = "lr_scheduler_type"},
                   "use constant, linear or cosine"};
}

}  // namespace seqtrain::optim
