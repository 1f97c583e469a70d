#pragma once

#include <chrono>

namespace seqtrain::tests {

/// A clock that stands until a test moves it.
struct FakeClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<FakeClock>;
  static constexpr bool is_steady = true;

  static time_point now() { return time_point{} + elapsed; }
  static void pass(std::chrono::milliseconds time) { elapsed += time; }

  inline static duration elapsed{};
};

}  // namespace seqtrain::tests
