#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include <seqtrain/dist/heartbeat.hpp>

namespace seqtrain::dist::detail {

/// The state that all operations of a group share.
struct Link {
  std::shared_ptr<Heartbeat> heartbeat;
  std::atomic<int> unfinished{0};  ///< operations that nobody has waited for yet
  std::atomic<bool> failed{false};
  /// `wait` of NCCL's operations blocks the device's stream and not this thread, so it comes last.
  bool polls = false;
};

/// A time limit that no operation reaches. `Pending::wait` detects lost ranks instead.
inline constexpr std::chrono::milliseconds endless = std::chrono::hours{24 * 365};

}  // namespace seqtrain::dist::detail
