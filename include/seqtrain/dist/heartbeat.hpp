#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/dist/store.hpp>
#include <seqtrain/dist/world.hpp>

namespace seqtrain::dist {

/// Shows the other ranks that this one is alive, and detects ranks that are not. A thread
/// increments this rank's counter in the store every second, and reads the other counters while
/// somebody waits. Only that thread uses the store, so nobody else hangs if the store does not
/// answer.
class Heartbeat {
 public:
  /// Starts the thread. `hosts` are the names of the ranks' hosts, for errors.
  [[nodiscard]] static std::shared_ptr<Heartbeat> start(const World& world, StorePtr store,
                                                        std::vector<std::string> hosts) {
    const std::shared_ptr<Heartbeat> result{
        new Heartbeat{world, std::move(store), std::move(hosts)}};
    // The thread is detached: it may hang in a store that does not answer when everything else has
    // ended.
    std::thread{[result] { result->run(); }}.detach();
    return result;
  }

  /// Ends the thread. Waits for it unless it hangs.
  void stop() {
    std::unique_lock lock{mutex_};
    stopping_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds{2}, [this] { return ended_; });
  }

  /// Creates this rank's counter. It must exist before another rank reads it.
  static void begin(::c10d::Store& store, int rank) { store.add(key(rank), 1); }

  /// Waits up to `longest` for a reason why an operation with the other ranks cannot finish.
  /// Returns the reason, or "". The first call after `calm` starts to watch the other ranks.
  /// `waited` is the time that the caller has already waited since its last call.
  [[nodiscard]] std::string reason(std::chrono::milliseconds longest,
                                   std::chrono::milliseconds waited = {}) {
    std::unique_lock lock{mutex_};
    watching_ = true;
    if (changed_.wait_for(lock, longest, [this] { return !reason_.empty(); })) return reason_;
    stuck_ = turns_ == turns_seen_ ? stuck_ + longest + waited : std::chrono::milliseconds{0};
    turns_seen_ = turns_;
    if (stuck_ >= patience_) reason_ = store_gone();
    return reason_;
  }

  /// Reports that a connection broke, so that a silent rank is given up sooner.
  void hurry() {
    const std::lock_guard lock{mutex_};
    patience_ = std::chrono::seconds{4};
    changed_.notify_all();
  }

  /// Stops watching the other ranks, because nobody waits for them.
  void calm() {
    const std::lock_guard lock{mutex_};
    watching_ = false;
  }

  /// Tells the other ranks why this one ends, unless a rank has already given a reason.
  void tell(const std::string& text) {
    std::unique_lock lock{mutex_};
    if (!reason_.empty()) return;
    note_ = name(world_.rank) + ": " + text;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds{3}, [this] { return !reason_.empty(); });
    lock.unlock();
    linger();
  }

  /// Gives the other ranks time to read the reason if this process serves the store.
  void linger() const {
    if (serves()) std::this_thread::sleep_for(std::chrono::seconds{3});
  }

  /// Tells the other ranks that this one does not need them any more, and waits a short time until
  /// all ranks do so: closing a connection early breaks operations of other ranks.
  void leave() {
    std::unique_lock lock{mutex_};
    leaving_ = true;
    changed_.notify_all();
    const auto done = [this] { return all_left_ || !reason_.empty(); };
    changed_.wait_for(lock, std::chrono::seconds{5}, done);
    // The other ranks must read it before a store in this process ends.
    if (serves())
      changed_.wait_for(lock, std::chrono::milliseconds{300}, [this] { return stopping_; });
  }

 private:
  struct Seen {
    std::vector<std::uint8_t> counter;
    Clock::time_point since;
  };

  static constexpr std::chrono::milliseconds beat{1000};

  [[nodiscard]] bool serves() const { return world_.rank == 0 && !world_.agent_store; }

  [[nodiscard]] static std::string key(int rank) { return "beat/" + std::to_string(rank); }

  Heartbeat(const World& world, StorePtr store, std::vector<std::string> hosts)
      : world_{world}, store_{std::move(store)}, hosts_{std::move(hosts)} {
    for (int rank = 0; rank < world_.size; ++rank) keys_.push_back(key(rank));
  }

  void run() {
    std::unique_lock lock{mutex_};
    while (!stopping_ && !store_gone_) {
      const bool leaving = leaving_;
      const auto note = note_;
      turn(lock, leaving, note);
      ++turns_;
      if (all_left_ || !reason_.empty()) changed_.notify_all();
      const bool impatient = leaving && !all_left_;
      changed_.wait_for(lock, impatient ? std::chrono::milliseconds{20} : beat,
                        [&] { return stopping_ || leaving_ != leaving || note_ != note; });
    }
    ended_ = true;
    changed_.notify_all();
  }

  // Exchanges data with the store once, without the lock.
  void turn(std::unique_lock<std::mutex>& lock, bool leaving, const std::string& note) {
    const bool watching = watching_;
    const auto patience = patience_;
    lock.unlock();
    std::string reason;
    bool left = false;
    bool gone = false;
    try {
      reason = look(watching, note, patience);
      left = leaving && store_->add("left", std::exchange(leaves_, 0)) >= world_.size;
    } catch (const std::exception&) {
      reason = store_gone();
      gone = true;
    }
    lock.lock();
    store_gone_ = gone;
    all_left_ = all_left_ || left;
    if (reason_.empty()) reason_ = reason;
  }

  // Returns a reason to end, or "".
  std::string look(bool watching, const std::string& note, std::chrono::seconds patience) {
    store_->add(key(world_.rank), 1);
    if (!note.empty()) return store_->compareSet("end", "", note);
    if (store_->check({"end"})) return store_->get_to_str("end");
    if (!watching) {
      seen_.clear();
      return {};
    }
    const auto silent = first_silent(patience);
    if (silent < 0) return {};
    return store_->compareSet("end", "",
                              name(silent) + " has ended or cannot be reached: it has shown no " +
                                  "sign of life for " + std::to_string(patience.count()) + " s");
  }

  // Returns a rank whose counter has stopped, or -1.
  int first_silent(std::chrono::seconds patience) {
    const auto now = Clock::now();
    const auto counters = store_->multiGet(keys_);
    seen_.resize(keys_.size());
    int silent = -1;
    for (std::size_t rank = 0; rank < keys_.size(); ++rank) {
      auto& seen = seen_[rank];
      if (seen.counter != counters[rank]) seen = {counters[rank], now};
      const bool other = static_cast<int>(rank) != world_.rank;
      if (silent < 0 && other && now - seen.since >= patience) silent = static_cast<int>(rank);
    }
    return silent;
  }

  [[nodiscard]] std::string name(int rank) const {
    return "rank " + std::to_string(rank) + " of " + std::to_string(world_.size) + " (" +
           hosts_[static_cast<std::size_t>(rank)] + ")";
  }

  [[nodiscard]] std::string store_gone() const {
    const auto address = world_.master_host + ":" + std::to_string(world_.master_port);
    return world_.agent_store ? "the launcher's store at " + address + " is gone"
                              : name(0) + " is gone, with the store at " + address;
  }

  World world_;
  StorePtr store_;
  std::vector<std::string> hosts_;
  std::vector<std::string> keys_;
  std::vector<Seen> seen_;
  std::int64_t leaves_ = 1;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool watching_ = false;
  std::chrono::seconds patience_{10};  // with a silent rank or store
  bool leaving_ = false;
  bool all_left_ = false;
  bool stopping_ = false;
  bool ended_ = false;
  bool store_gone_ = false;
  std::int64_t turns_ = 0;
  std::int64_t turns_seen_ = 0;
  std::chrono::milliseconds stuck_{0};  // time that the thread has waited for the store
  std::string note_;                    // why this rank ends
  std::string reason_;                  // why all ranks have to end
};

}  // namespace seqtrain::dist
