#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace seqtrain::serve {

/// The clock of all times in the server.
using Clock = std::chrono::steady_clock;

/// A request in the queue: the lengths of its texts, and which of them have been taken.
class Ticket {
 public:
  /// `model` identifies the model of the texts; a batch never has texts of different models.
  Ticket(std::vector<std::size_t> tokens, const void* model, Clock::time_point since)
      : tokens_{std::move(tokens)}, order_(tokens_.size()), model_{model}, since_{since} {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, std::greater{}, [this](std::size_t i) { return tokens_[i]; });
  }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  virtual ~Ticket() = default;

  [[nodiscard]] std::size_t size() const { return tokens_.size(); }
  /// Returns the length of a text.
  [[nodiscard]] std::size_t tokens(std::size_t text) const { return tokens_[text]; }
  [[nodiscard]] std::size_t waiting() const { return size() - taken_; }
  [[nodiscard]] const void* model() const { return model_; }
  [[nodiscard]] Clock::time_point since() const { return since_; }

 private:
  friend class Queue;

  std::vector<std::size_t> tokens_;
  std::vector<std::size_t> order_;  // indexes of the texts; the longest comes first, so that texts
                                    // in a batch have similar lengths
  std::size_t taken_ = 0;
  const void* model_;
  Clock::time_point since_;
};

/// The requests that wait for a model. They take turns: each adds one text to a batch and then the
/// next one does, so a request with many texts does not delay the others.
class Queue {
 public:
  /// One text that is taken from the queue.
  struct Pick {
    std::shared_ptr<Ticket> ticket;
    std::size_t text;
  };

  /// Adds a request at the end.
  void push(std::shared_ptr<Ticket> ticket) {
    texts_ += ticket->waiting();
    tickets_.push_back(std::move(ticket));
  }

  /// Removes a request. Its texts that have already been taken are not affected.
  void remove(const Ticket& ticket) {
    const auto found = std::ranges::find(tickets_, &ticket, &std::shared_ptr<Ticket>::get);
    if (found == tickets_.end()) return;
    texts_ -= ticket.waiting();
    tickets_.erase(found);
  }

  /// Removes and returns the requests that came before `time` and of which no text was taken yet.
  std::vector<std::shared_ptr<Ticket>> remove_older(Clock::time_point time) {
    std::vector<std::shared_ptr<Ticket>> old;
    std::erase_if(tickets_, [&](const auto& ticket) {
      if (ticket->since() >= time || ticket->taken_ > 0) return false;
      texts_ -= ticket->waiting();
      old.push_back(ticket);
      return true;
    });
    return old;
  }

  /// Returns the next batch: texts of one model with at most `max_tokens` tokens in all, or a
  /// single text that has more. The longest text comes first.
  std::vector<Pick> take(std::size_t max_tokens) {
    std::vector<Pick> batch;
    std::deque<std::shared_ptr<Ticket>> passed;  // requests that wait for another model
    std::size_t tokens = 0;
    while (!tickets_.empty()) {
      const auto ticket = tickets_.front();
      if (!batch.empty() && ticket->model() != batch.front().ticket->model()) {
        passed.push_back(ticket);
        tickets_.pop_front();
        continue;
      }
      const std::size_t text = ticket->order_[ticket->taken_];
      if (!batch.empty() && tokens + ticket->tokens(text) > max_tokens) break;
      tokens += ticket->tokens(text);
      tickets_.pop_front();
      ++ticket->taken_;
      --texts_;
      if (ticket->waiting() > 0) tickets_.push_back(ticket);
      batch.push_back({ticket, text});
    }
    tickets_.insert(tickets_.begin(), passed.begin(), passed.end());
    std::ranges::stable_sort(batch, std::greater{},
                             [](const Pick& pick) { return pick.ticket->tokens(pick.text); });
    return batch;
  }

  [[nodiscard]] bool empty() const { return tickets_.empty(); }
  [[nodiscard]] std::size_t texts() const { return texts_; }

 private:
  std::deque<std::shared_ptr<Ticket>> tickets_;  // Each ticket has texts left.
  std::size_t texts_ = 0;
};

}  // namespace seqtrain::serve
