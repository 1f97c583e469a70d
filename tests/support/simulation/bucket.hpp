#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>

#include "support/simulation/operation.hpp"
#include "support/simulation/random.hpp"

namespace seqtrain::tests::sim {

/// The server side of a remote store, which any number of processes reach. Puts wait for a flush;
/// until then they may or may not take effect, one by one. Everything else acts at once.
class Bucket {
 public:
  using Bytes = std::shared_ptr<const std::string>;

  struct Faults {
    double before = 0;  ///< the probability that a call fails before its effect
    double after = 0;   ///< the probability that an answer is lost
    double late = 0;    ///< the probability that a put of a process takes effect after its end
    std::uint64_t outage_first = 0;  ///< from the call with this number on, counted from 1,
    std::uint64_t outage_last = 0;   ///< to this one all calls fail
  };

  struct Object {
    Bytes bytes;
    std::int64_t generation = 0;
  };
  using Objects = std::map<std::string, Object, std::less<>>;

  /// A put or removal that took effect.
  struct Record {
    int process;
    Operation operation;
    std::string key;
  };

  /// The outcome of a call.
  enum class Fate { answered, not_reached, answer_lost };

  explicit Bucket(Random& random) : random_{random} {}
  Bucket(Random& random, Faults faults) : random_{random}, faults_{faults} {}
  Bucket(const Bucket&) = delete;
  Bucket& operator=(const Bucket&) = delete;

  Fate next_fate() {
    ++calls_;
    if (calls_ >= faults_.outage_first && calls_ <= faults_.outage_last) return Fate::not_reached;
    if (!waiting_.empty() && random_.chance(0.5)) land(random_.below(waiting_.size()));
    if (faults_.before > 0 && random_.chance(faults_.before)) return Fate::not_reached;
    if (faults_.after > 0 && random_.chance(faults_.after)) return Fate::answer_lost;
    return Fate::answered;
  }

  void put(int process, std::string_view key, Bytes bytes) {
    waiting_.push_back({process, std::string{key}, std::move(bytes)});
  }

  /// Lets the puts of a process take effect, or forgets them. Returns false if some were forgotten.
  bool flush(int process, Fate fate) {
    const double lost = fate == Fate::not_reached ? 1 : faults_.before;
    bool succeeded = fate == Fate::answered;
    settle(process, [&](const Waiting&) {
      const bool reached = !random_.chance(lost);
      succeeded = succeeded && reached;
      return reached;
    });
    return succeeded;
  }

  /// Forgets the puts of a process that were not flushed: some have taken effect, the rest never
  /// will, or will later.
  void end(int process) {
    settle(process, [&](const Waiting& put) {
      const auto same = [&](const Waiting& late) { return late.key == put.key; };
      if (std::any_of(late_.begin(), late_.end(), same)) return false;
      if (!random_.chance(faults_.late)) return random_.chance(0.5);
      late_.push_back(put);
      return false;
    });
    waiting_.insert(waiting_.end(), late_.begin(), late_.end());
    late_.clear();
  }

  /// Returns the object, or null if there is none.
  [[nodiscard]] const Object* get(std::string_view key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : &found->second;
  }

  /// Stores the bytes if the object has this generation, where 0 means no object. Returns the new
  /// generation.
  std::optional<std::int64_t> put_if(int process, std::string_view key, Bytes bytes,
                                     std::int64_t generation) {
    const Object* const object = get(key);
    if ((object == nullptr ? 0 : object->generation) != generation) return {};
    return store(process, Operation::store_put_if, key, std::move(bytes));
  }

  void remove(int process, std::string_view key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return;
    objects_.erase(found);
    log_.push_back({process, Operation::store_remove, std::string{key}});
  }

  /// Returns the keys in a directory at any depth, sorted; "" means all keys.
  [[nodiscard]] std::vector<std::string> list(std::string_view directory) const {
    const std::string prefix = directory.empty() ? "" : std::string{directory} + "/";
    std::vector<std::string> keys;
    for (auto object = objects_.lower_bound(prefix);
         object != objects_.end() && object->first.starts_with(prefix); ++object) {
      keys.push_back(object->first);
    }
    return keys;
  }

  /// Flips a bit of an object or cuts off its end. Returns false if there is none.
  bool corrupt(std::string_view key, Random& random) {
    const auto found = objects_.find(key);
    if (found == objects_.end() || found->second.bytes->empty()) return false;
    std::string bytes = *found->second.bytes;
    if (random.chance(0.5)) {
      bytes.resize(random.below(bytes.size()));
    } else {
      char& byte = bytes[random.below(bytes.size())];
      byte = static_cast<char>(byte ^ 1 << random.below(8));
    }
    found->second.bytes = std::make_shared<const std::string>(std::move(bytes));
    return true;
  }

  [[nodiscard]] Faults& faults() { return faults_; }
  [[nodiscard]] const Objects& objects() const { return objects_; }
  [[nodiscard]] const std::vector<Record>& log() const { return log_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] Random& random() const { return random_; }

 private:
  /// A put that has not taken effect.
  struct Waiting {
    int process;
    std::string key;
    Bytes bytes;
  };

  std::int64_t store(int process, Operation operation, std::string_view key, Bytes bytes) {
    auto found = objects_.find(key);
    if (found == objects_.end()) found = objects_.emplace(key, Object{}).first;
    found->second = {std::move(bytes), ++generations_};
    log_.push_back({process, operation, std::string{key}});
    return generations_;
  }
  void land(const Waiting& put) { store(put.process, Operation::store_put, put.key, put.bytes); }

  /// Lets one put take effect, or an earlier one with the same key.
  void land(std::size_t index) {
    const auto same = [&](const Waiting& put) {
      return put.process == waiting_[index].process && put.key == waiting_[index].key;
    };
    const auto first = std::find_if(waiting_.begin(), waiting_.end(), same);
    land(*first);
    waiting_.erase(first);
  }

  /// Removes the waiting puts of a process; those that `succeeds` selects take effect, in order.
  template <class Succeeds>
  void settle(int process, const Succeeds& succeeds) {
    if (waiting_.empty()) return;
    std::vector<Waiting> left;
    for (auto& put : waiting_) {
      if (put.process != process) {
        left.push_back(std::move(put));
      } else if (succeeds(put)) {
        land(put);
      }
    }
    waiting_ = std::move(left);
  }

  Random& random_;
  Faults faults_ = {};
  Objects objects_;
  std::vector<Waiting> waiting_;
  std::vector<Waiting> late_;
  std::vector<Record> log_;
  std::int64_t generations_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace seqtrain::tests::sim
