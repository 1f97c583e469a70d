#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace seqtrain::serve {

/// Limits the requests that are handled at once, and their texts. Several threads may use it.
class Admission {
  struct State {
    std::size_t max_requests;
    std::size_t max_texts;
    std::mutex mutex = {};
    std::size_t requests = 0;
    std::size_t texts = 0;
  };

 public:
  /// The place of one request and its texts. The destructor frees it.
  class Place {
   public:
    explicit Place(std::shared_ptr<State> state) : state_{std::move(state)} {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      const std::lock_guard lock{state_->mutex};
      --state_->requests;
      state_->texts -= texts_;
    }

    /// Adds texts to the place. Returns false if there is no room for them.
    [[nodiscard]] bool add_texts(std::size_t count) {
      const std::lock_guard lock{state_->mutex};
      if (count > state_->max_texts - state_->texts) return false;
      state_->texts += count;
      texts_ += count;
      return true;
    }

   private:
    std::shared_ptr<State> state_;
    std::size_t texts_ = 0;
  };

  Admission(std::size_t max_requests, std::size_t max_texts)
      : state_{new State{max_requests, max_texts}} {}

  /// Returns a place, or null if all are taken.
  [[nodiscard]] std::shared_ptr<Place> enter() {
    const std::lock_guard lock{state_->mutex};
    if (state_->requests == state_->max_requests) return {};
    ++state_->requests;
    return std::make_shared<Place>(state_);
  }

  [[nodiscard]] std::size_t requests() const {
    const std::lock_guard lock{state_->mutex};
    return state_->requests;
  }

 private:
  std::shared_ptr<State> state_;  // A place may outlive this object.
};

}  // namespace seqtrain::serve
