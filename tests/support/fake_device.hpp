#pragma once

#include <cstdint>

namespace seqtrain::tests {

/// What a program asked of the fake device.
struct DeviceCounts {
  std::int64_t copies_to = 0;        ///< from the host to the device
  std::int64_t copies_from = 0;      ///< from the device to the host
  std::int64_t bytes_from = 0;       ///< of those copies
  std::int64_t waits = 0;            ///< calls that return only after the device has done its work
  std::int64_t operators = 0;        ///< a kernel or the replay of a graph counts as one
  std::int64_t replays = 0;          ///< of graphs
  std::int64_t largest_product = 0;  ///< the most rows that the first factor of a product had
};

/// Returns the counts since the start or the last reset.
[[nodiscard]] DeviceCounts device_counts();
void reset_device_counts();

/// Returns how often the calling thread has waited for the device.
[[nodiscard]] std::int64_t waits_of_this_thread();

}  // namespace seqtrain::tests
