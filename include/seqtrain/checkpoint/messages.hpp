#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/train/events.hpp>

namespace seqtrain::checkpoint {

/// Returns the message about a record of a run, in the store `place`, that somebody has removed.
inline std::string removed_record(const std::string& place) {
  return place + "/run.json was removed while this run goes on; it is there again";
}

/// Messages of any thread, which wait until the thread that trains passes them on.
class Messages {
 public:
  void say(const std::string& text) { add({.text = text, .warning = false}); }
  void warn(const std::string& text) { add({.text = text, .warning = true}); }
  void add(const train::Notice& notice) {
    const std::lock_guard lock{mutex_};
    waiting_.emplace_back(notice.text, notice.warning);
  }

  /// Calls `log`, unless it is empty, with the messages that wait, and removes them.
  void pass_on(const std::function<void(const train::Notice&)>& log) {
    std::vector<std::pair<std::string, bool>> messages;
    {
      const std::lock_guard lock{mutex_};
      messages.swap(waiting_);
    }
    if (!log) return;
    for (const auto& [text, warning] : messages) log({.text = text, .warning = warning});
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, bool>> waiting_;  // texts, and whether they are warnings
};

}  // namespace seqtrain::checkpoint
