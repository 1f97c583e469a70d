#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>

namespace seqtrain::optim {

/// The one-cycle policy of Smith 2018, "A disciplined approach to neural network hyper-parameters",
/// in fastai's form. The learning rate's factor climbs along half a cosine from 1/div to 1 and
/// falls along another one to 1/div_final. The momentum, which is Adam's beta1, changes in the
/// opposite direction. Both are closed forms of the step. Defaults are fastai's for texts.
struct OneCycle {
  double div = 25;
  double div_final = 1e5;
  double pct_start = 0.25;     ///< share of the steps in which the learning rate climbs
  double momentum_high = 0.8;  ///< momentum at the first step and after the last
  double momentum_low = 0.7;   ///< momentum at the highest learning rate

  /// Returns the learning rate's factor at `step` (counted from 0) of `steps`.
  [[nodiscard]] double lr_scale(std::int64_t step, std::int64_t steps) const {
    return at(step, steps, 1 / div, 1, 1 / div_final);
  }

  /// Returns the momentum at `step` (counted from 0) of `steps`.
  [[nodiscard]] double momentum(std::int64_t step, std::int64_t steps) const {
    return at(step, steps, momentum_high, momentum_low, momentum_high);
  }

  void validate() const {
    const Demand demand{"one cycle"};
    demand(std::isfinite(div) && div >= 1, "div", "must be at least 1");
    demand(std::isfinite(div_final) && div_final >= 1, "div_final", "must be at least 1");
    demand(pct_start > 0 && pct_start < 1, "pct_start", "must be above 0 and below 1");
    demand(momentum_high >= 0 && momentum_high < 1, "momentum_high",
           "must be at least 0 and below 1");
    demand(momentum_low >= 0 && momentum_low < 1, "momentum_low", "must be at least 0 and below 1");
  }

 private:
  /// Returns the value on half a cosine from `from` to `to`, after the fraction `part` of its
  /// length.
  static double cosine(double from, double to, double part) {
    return from + (to - from) * (1 - std::cos(std::numbers::pi * part)) / 2;
  }

  [[nodiscard]] double at(std::int64_t step, std::int64_t steps, double begin, double middle,
                          double end) const {
    const auto whole = static_cast<double>(std::max<std::int64_t>(1, steps));
    const double done = std::min(1.0, static_cast<double>(step) / whole);
    if (done < pct_start) return cosine(begin, middle, done / pct_start);
    return cosine(middle, end, (done - pct_start) / (1 - pct_start));
  }
};

/// The learning rate's factor over a run. It is a closed form of the step, so a resumed run needs
/// no history. As in transformers' `get_scheduler`, the factor climbs linearly from 0 during the
/// warm-up, then stays (`constant`), falls linearly to 0 (`linear`) or follows half a cosine down
/// to 0 (`cosine`). `slanted_triangular` (Howard and Ruder 2018, section 3.2) climbs linearly from
/// 1/32 and falls linearly to it; without a warm-up, the climb takes a tenth of the steps.
/// `one_cycle` schedules the momentum too and has no warm-up besides its own rise.
struct Schedule {
  /// The course of the factor after the warm-up.
  enum class Type { constant, linear, cosine, slanted_triangular, one_cycle };

  Type type = Type::constant;
  std::int64_t warmup_steps = 0;
  double warmup_ratio = 0;  ///< a fraction of all steps, rounded up; used if warmup_steps is 0
  OneCycle one_cycle = {};  ///< used only if `type` is one_cycle

  /// Returns the factor at `step` (counted from 0) of `steps`.
  [[nodiscard]] double lr_scale(std::int64_t step, std::int64_t steps) const {
    if (type == Type::one_cycle) return one_cycle.lr_scale(step, steps);
    const std::int64_t warmup = warmup_of(steps);
    if (type == Type::slanted_triangular) return slanted_triangular(step, steps, warmup);
    if (step < warmup) return static_cast<double>(step) / static_cast<double>(warmup);
    if (type == Type::constant) return 1;
    const auto rest = static_cast<double>(std::max<std::int64_t>(1, steps - warmup));
    const double progress = std::min(1.0, static_cast<double>(step - warmup) / rest);
    if (type == Type::linear) return 1 - progress;
    return 0.5 * (1 + std::cos(std::numbers::pi * progress));
  }

  /// Returns Adam's beta1 at `step` (counted from 0) of `steps`, if the schedule sets it.
  [[nodiscard]] std::optional<double> momentum(std::int64_t step, std::int64_t steps) const {
    if (type == Type::one_cycle) return one_cycle.momentum(step, steps);
    return {};
  }

  void validate() const {
    one_cycle.validate();
    if (type == Type::one_cycle && (warmup_steps != 0 || warmup_ratio != 0)) {
      throw InputError{"does not go with one_cycle, which has its own rise",
                       {.object = "schedule", .field = "warmup"}};
    }
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
    const bool slanted = type == Type::slanted_triangular && warmup_ratio == 0;
    const double ratio = slanted ? 0.1 : warmup_ratio;
    return static_cast<std::int64_t>(std::ceil(ratio * static_cast<double>(steps)));
  }

  static double slanted_triangular(std::int64_t step, std::int64_t steps, std::int64_t warmup) {
    constexpr double ratio = 32;  // ratio of the highest to the lowest factor
    const auto part = [](std::int64_t done, std::int64_t of) {
      return std::clamp(
          static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(1, of)), 0.0, 1.0);
    };
    const double height =
        step < warmup ? part(step, warmup) : 1 - part(step - warmup, steps - warmup);
    return (1 + height * (ratio - 1)) / ratio;
  }
};

/// The names that transformers' `lr_scheduler_type` has for the schedules.
inline constexpr std::array<std::pair<std::string_view, Schedule::Type>, 5> schedule_names{
    {{"constant", Schedule::Type::constant},
     {"linear", Schedule::Type::linear},
     {"cosine", Schedule::Type::cosine},
     {"slanted_triangular", Schedule::Type::slanted_triangular},
     {"one_cycle", Schedule::Type::one_cycle}}};

/// Returns the name of a schedule.
constexpr std::string_view name(Schedule::Type type) {
  return schedule_names[static_cast<std::size_t>(type)].first;
}

}  // namespace seqtrain::optim
