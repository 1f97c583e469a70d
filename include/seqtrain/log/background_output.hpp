#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>

namespace seqtrain::log {

/// Options of `BackgroundOutput`.
struct BackgroundOutputOptions {
  int out = STDOUT_FILENO;
  int errors = STDERR_FILENO;
  std::size_t most_bytes = std::size_t{1} << 20;  ///< bytes that may wait for their reader
};

/// Two streams, for a log and its errors, whose lines a thread writes to file descriptors, in
/// order. Nobody who writes to the streams waits for a reader that is slow or stuck. If more than
/// `most_bytes` wait for the reader, further lines are dropped until it has read those. Lines that
/// cannot be written, for example because the reader has closed its end, are dropped too.
class BackgroundOutput {
 public:
  /// Throws `Error` if no thread can be started.
  explicit BackgroundOutput(const BackgroundOutputOptions& options = {})
      : queue_{std::make_shared<Queue>(options)},
        out_buffer_{*queue_, options.out},
        errors_buffer_{*queue_, options.errors} {
    try {
      // It is not joined, because it may be stuck in a write when the program ends.
      std::thread{[queue = queue_] { queue->work(); }}.detach();
    } catch (const std::system_error& error) {
      throw Error{"a thread for the log cannot be started: " + error.code().message()};
    }
  }
  BackgroundOutput(const BackgroundOutput&) = delete;
  BackgroundOutput& operator=(const BackgroundOutput&) = delete;
  /// Does not wait; see `finish`.
  ~BackgroundOutput() { queue_->end(); }

  [[nodiscard]] std::ostream& out() { return out_; }
  [[nodiscard]] std::ostream& errors() { return errors_; }

  /// Sets the function that makes the line about a number of dropped lines. The line is written to
  /// `out` in their place. The function is called on the thread, perhaps later than this object
  /// exists.
  void set_notice(std::function<std::string(std::size_t)> notice) {
    queue_->set_notice(std::move(notice));
  }

  /// Waits until all lines are written or, if a time is given, until it is over. Returns whether
  /// they are written.
  bool finish(std::optional<std::chrono::milliseconds> time = {}) { return queue_->finish(time); }

 private:
  /// The lines that wait, and the work of the thread.
  class Queue {
   public:
    explicit Queue(const BackgroundOutputOptions& options) : options_{options} {}

    void push(int descriptor, std::string_view text) {
      const std::lock_guard lock{mutex_};
      if (dropped_ > 0 || bytes_ + text.size() > options_.most_bytes) {
        const auto lines = std::ranges::count(text, '\n');
        dropped_ += static_cast<std::size_t>(std::max<std::ptrdiff_t>(lines, 1));
        return;
      }
      bytes_ += text.size();
      if (waiting_.empty() || waiting_.back().descriptor != descriptor) {
        waiting_.push_back({descriptor, {}});
      }
      waiting_.back().text += text;
    }

    void wake() { changed_.notify_all(); }

    void set_notice(std::function<std::string(std::size_t)> notice) {
      const std::lock_guard lock{mutex_};
      notice_ = std::move(notice);
    }

    bool finish(std::optional<std::chrono::milliseconds> time) {
      std::unique_lock lock{mutex_};
      hurry();
      const auto is_done = [this] { return is_empty() && !writes_; };
      if (time) return changed_.wait_for(lock, *time, is_done);
      changed_.wait(lock, is_done);
      return true;
    }

    void end() {
      const std::lock_guard lock{mutex_};
      ended_ = true;
      hurry();
    }

    void work() {
      for (std::unique_lock lock{mutex_};;) {
        changed_.wait(lock, [this] { return !is_empty() || ended_; });
        if (is_empty()) return;
        writes_ = true;
        const auto pieces = std::exchange(waiting_, {});
        const std::size_t dropped = pieces.empty() ? std::exchange(dropped_, 0) : 0;
        const auto notice = notice_;
        bytes_ = 0;
        lock.unlock();
        for (const auto& [descriptor, text] : pieces) write(descriptor, text);
        if (dropped > 0 && notice) write(options_.out, notice(dropped));
        lock.lock();
        writes_ = false;
        changed_.notify_all();
        pause_.wait_for(lock, shortest_pause, [this] { return hurries_; });
      }
    }

   private:
    struct Piece {
      int descriptor;
      std::string text;
    };

    /// The time between two writes, so that a busy program does not wake the thread for each line.
    static constexpr std::chrono::milliseconds shortest_pause{5};

    /// Lets the thread write without pauses.
    void hurry() {
      hurries_ = true;
      pause_.notify_all();
      wake();
    }

    [[nodiscard]] bool is_empty() const { return waiting_.empty() && dropped_ == 0; }

    static void write(int descriptor, std::string_view text) {
      try {
        static_cast<void>(OutputDescriptor{descriptor, "the log"}.write(text));
      } catch (const Error&) {  // which nobody could be told of
      }
    }

    BackgroundOutputOptions options_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::condition_variable pause_;
    std::vector<Piece> waiting_;
    std::size_t bytes_ = 0;    ///< the sum of the pieces that wait
    std::size_t dropped_ = 0;  ///< lines; while there are some, all further lines are dropped
    bool writes_ = false;
    bool hurries_ = false;
    bool ended_ = false;
    std::function<std::string(std::size_t)> notice_;
  };

  /// Puts what a stream gets into the queue.
  class Buffer : public std::streambuf {
   public:
    Buffer(Queue& queue, int descriptor) : queue_{&queue}, descriptor_{descriptor} {}

   private:
    std::streamsize xsputn(const char* text, std::streamsize size) override {
      queue_->push(descriptor_, {text, static_cast<std::size_t>(size)});
      return size;
    }
    int_type overflow(int_type character) override {
      if (traits_type::eq_int_type(character, traits_type::eof())) return 0;
      const char text = traits_type::to_char_type(character);
      queue_->push(descriptor_, {&text, 1});
      return character;
    }
    int sync() override {
      queue_->wake();
      return 0;
    }

    Queue* queue_;
    int descriptor_;
  };

  std::shared_ptr<Queue> queue_;
  Buffer out_buffer_;
  Buffer errors_buffer_;
  std::ostream out_{&out_buffer_};
  std::ostream errors_{&errors_buffer_};
};

}  // namespace seqtrain::log
