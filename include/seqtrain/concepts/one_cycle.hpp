#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

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

}  // namespace seqtrain::optim
