#pragma once

// The streams of the fake device, and a check that nothing but luck orders their work: the check of
// torch.cuda._sanitizer. Each stream has a vector clock, which tells how much work of each stream
// is done before the stream's next work. Events and waits of the host carry clocks on. Each block
// of memory remembers its last write and the reads since. All functions need the device's mutex.

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

namespace seqtrain::tests::streams {

/// A device's index and the number of a stream.
using Id = std::pair<c10::DeviceIndex, c10::StreamId>;

inline Id id_of(const c10::Stream& stream) {
  return {stream.device_index(), stream.id()};
}

/// A use of memory: the work with number `time` of a stream.
struct Access {
  Id stream;
  std::int64_t time = 0;     ///< 0 for none
  std::string_view by = {};  ///< the operator
};

/// The number of the last work of each stream that is surely done.
class Clock {
 public:
  void join(const Clock& other) {
    for (const auto& [stream, time] : other.times_) times_[stream] = std::max(times_[stream], time);
  }
  [[nodiscard]] bool covers(const Access& access) const {
    const auto found = times_.find(access.stream);
    return (found == times_.end() ? 0 : found->second) >= access.time;
  }
  std::int64_t tick(const Id& stream) { return ++times_[stream]; }

 private:
  std::map<Id, std::int64_t> times_;
};

/// The uses of a block of memory.
struct History {
  /// The stream that allocated the block. Its later work may get the block once it is free.
  Id owner = {};
  std::optional<Access> written = {};
  std::map<Id, Access> read = {};         ///< by stream, since the last write
  std::set<c10::StreamId> recorded = {};  ///< by recordDataPtrOnStream
};

/// Returns the work that surely is done before what this thread asks for next.
inline Clock& host_clock() {
  // Memory is freed until the process ends, so clocks live on.
  static auto& all = *new std::deque<Clock>;
  thread_local Clock* const own = &all.emplace_back();
  return *own;
}

inline std::map<Id, Clock>& clocks() {
  static auto& all = *new std::map<Id, Clock>;
  return all;
}

/// Returns the work that is done before the next work that this thread gives the stream.
inline Clock& present(const Id& stream) {
  Clock& clock = clocks()[stream];
  clock.join(host_clock());
  return clock;
}

inline std::string name_of(const Id& stream) {
  return "stream " + std::to_string(stream.second) + " of device " + std::to_string(stream.first);
}

/// Returns the first error of memory that was freed too early, which the next operator throws.
inline std::string& problem_of_free() {
  static auto& problem = *new std::string;
  return problem;
}

/// Adds a use to the history. Throws if an earlier one may come later.
inline Access use(History& history, const Id& stream, bool writes, std::string_view by) {
  TORCH_CHECK(problem_of_free().empty(), std::exchange(problem_of_free(), {}));
  Clock& now = present(stream);
  const auto check = [&](const Access& earlier, const char* did) {
    TORCH_CHECK(now.covers(earlier), by, " on ", name_of(stream), writes ? " writes" : " reads",
                " memory that ", earlier.by, " on ", name_of(earlier.stream), did,
                ", and nothing orders the two: ", name_of(stream), " must block on an event of ",
                name_of(earlier.stream));
  };
  if (history.written) check(*history.written, " writes");
  for (const auto& [other, earlier] : history.read) {
    if (writes) check(earlier, " reads");
  }
  const Access access{stream, now.tick(stream), by};
  if (writes) {
    history.written = access;
    history.read.clear();
  } else {
    history.read.insert_or_assign(stream, access);
  }
  return access;
}

/// Finds a use that may come after the block has been freed and has got another owner.
inline void check_free(const History& history) {
  const Clock& now = present(history.owner);
  const auto check = [&](const Access& access) {
    if (now.covers(access) || history.recorded.contains(access.stream.second)) return;
    problem_of_free() = "memory of " + name_of(history.owner) + " was freed that " +
                        std::string{access.by} + " on " + name_of(access.stream) +
                        " may still use: " + name_of(history.owner) +
                        " must block on an event of it, or recordDataPtrOnStream must name it";
  };
  if (history.written) check(*history.written);
  for (const auto& [stream, access] : history.read) check(access);
}

/// Returns this thread's current stream of each device.
inline std::array<c10::StreamId, 2>& current_streams() {
  thread_local std::array<c10::StreamId, 2> current{};
  return current;
}

inline Id current_stream(c10::DeviceIndex device) {
  return {device, current_streams().at(static_cast<std::size_t>(device))};
}

}  // namespace seqtrain::tests::streams
