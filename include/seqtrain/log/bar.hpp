#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/log/format.hpp>
#include <seqtrain/log/log.hpp>

namespace seqtrain::log {

/// The progress of one phase of a run, such as training or an evaluation.
struct Progress {
  std::string name;
  std::int64_t done = 0;
  std::int64_t total = 0;   ///< 0 if it is not known
  std::int64_t before = 0;  ///< the part of `done` that an earlier process did
  double seconds = 0;       ///< time that this process has spent
  /// A number of units a second.
  struct Rate {
    double per_second = 0;
    std::string unit;
  };
  std::vector<Rate> rates = {};
};

/// Returns a phase's progress as a line: `train  42% [######----------] 521 examples/s, 15.2k
/// tokens/s, 0:35 left`, or `train 15.2k done, 521 examples/s` if the total is not known.
inline std::string progress_line(const Progress& progress) {
  constexpr std::size_t width = 16;
  const double share =
      progress.total > 0
          ? std::clamp(static_cast<double>(progress.done) / static_cast<double>(progress.total),
                       0.0, 1.0)
          : 0;
  const auto filled = static_cast<std::size_t>(share * width);
  const bool known = progress.total > 0 || progress.done == 0;
  std::string line = progress.name + " ";
  line += known ? right(fixed(std::floor(100 * share), 0), 3) + "% [" + std::string(filled, '#') +
                      std::string(width - filled, '-') + "]"
                : brief(static_cast<double>(progress.done)) + " done";
  std::string separator = known ? " " : ", ";
  for (const auto& [per_second, unit] : progress.rates) {
    if (!std::isfinite(per_second)) continue;
    line += separator + brief(per_second) + " " + unit;
    separator = ", ";
  }
  const std::int64_t timed = std::min(progress.done, progress.total) - progress.before;
  if (timed <= 0) return line;
  const std::int64_t left = std::max<std::int64_t>(progress.total - progress.done, 0);
  const double each = progress.seconds / static_cast<double>(timed);
  return line + separator + duration(each * static_cast<double>(left)) + " left";
}

/// Options of `Bar`.
struct BarOptions {
  bool enabled = false;  ///< if false, nothing is drawn
};

/// Draws the progress of a phase on a terminal's last line, at most ten times a second, once the
/// phase has taken more than a second. Wipes the line at the end.
template <class Clock = std::chrono::steady_clock>
class Bar {
 public:
  explicit Bar(const BarOptions& options = {}, std::ostream& out = std::cout)
      : enabled_{options.enabled}, out_{&out} {}
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;
  ~Bar() { clear(); }

  [[nodiscard]] bool enabled() const { return enabled_; }

  /// Draws the progress, unless it was drawn less than a tenth of a second ago.
  void draw(const Progress& progress) {
    const auto now = Clock::now();
    if (!enabled_ || progress.seconds < 1) return;
    if (visible_ && now - drawn_ < std::chrono::milliseconds{100}) return;
    drawn_ = now;
    visible_ = true;
    *out_ << clear_line << progress_line(progress) << std::flush;
  }

  void clear() {
    if (visible_) *out_ << clear_line << std::flush;
    visible_ = false;
  }

 private:
  bool enabled_;
  bool visible_ = false;
  typename Clock::time_point drawn_{};
  std::ostream* out_;
};

/// A function object that draws a progress bar over bytes. Its arguments are the number of bytes
/// done and the total number, 0 if that is not known.
template <class Clock = std::chrono::steady_clock>
class ByteBar {
 public:
  explicit ByteBar(std::string name, const BarOptions& options = {}, std::ostream& out = std::cout)
      : name_{std::move(name)}, bar_{options, out} {}

  void operator()(std::int64_t done, std::int64_t total) {
    if (!bar_.enabled()) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
    bar_.draw({.name = name_,
               .done = done,
               .total = total,
               .seconds = seconds,
               .rates = {{.per_second = rate, .unit = "bytes/s"}}});
  }

 private:
  std::string name_;
  Bar<Clock> bar_;
  typename Clock::time_point begin_ = Clock::now();
};

}  // namespace seqtrain::log
