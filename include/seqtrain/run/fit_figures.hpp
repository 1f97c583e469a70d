#pragma once

#include <cstdint>
#include <limits>

namespace seqtrain::run {

/// The speed and the length of a fit.
struct FitFigures {
  double examples_per_second = std::numeric_limits<double>::quiet_NaN();
  double tokens_per_second = std::numeric_limits<double>::quiet_NaN();  ///< without padding
  double seconds = 0;      ///< time of this process's fit, including evaluation
  std::int64_t steps = 0;  ///< optimizer steps of the run, including those before a resume
};

}  // namespace seqtrain::run
