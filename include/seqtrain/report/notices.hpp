#pragma once

#include <functional>
#include <utility>

#include <seqtrain/log/log.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

/// Returns a function that writes the notices of a fit into a log.
[[nodiscard]] inline std::function<void(const train::Notice&)> notices_to(log::Log log) {
  return [log = std::move(log)](const train::Notice& notice) {
    log.write(notice.warning ? log::Severity::warning : log::Severity::info, notice.text);
  };
}

}  // namespace seqtrain::report
