#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/serve/encoded_texts.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/prometheus.hpp>
#include <seqtrain/serve/queue.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::serve {

/// A request with encoded texts that waits for the model's predictions.
template <Servable P>
class Job : public Ticket {
 public:
  using Encoded = predict::Encoded;
  using Model = std::shared_ptr<const Served<P>>;

  /// `done` is called once, by the model's thread, and must not throw. The job keeps `model` even
  /// if the server loads another one meanwhile. Jobs with one `base` share batches; by default it
  /// is the model.
  Job(Model model, EncodedTexts texts, Clock::time_point since, std::function<void()> done,
      const void* base = nullptr)
      : Ticket{lengths(texts.parts), base == nullptr ? model.get() : base, since},
        model_{std::move(model)},
        parts_{std::move(texts.parts)},
        cuts_{std::move(texts.cuts)},
        rows_(parts_.size()),
        windows_(parts_.size()),
        missing_{parts_.size()},
        done_{std::move(done)} {}

  /// Returns the logits of each text. Call this and the functions below only after `done` was
  /// called.
  [[nodiscard]] const std::vector<std::vector<float>>& rows() const { return rows_; }
  /// Returns the window of each text that decided.
  [[nodiscard]] const std::vector<text::DecidingWindow>& windows() const { return windows_; }
  [[nodiscard]] const std::optional<HttpError>& error() const { return error_; }
  /// Returns the mean time that a text or a window waited in the queue.
  [[nodiscard]] Clock::duration queue_time() const { return mean(queued_); }
  [[nodiscard]] Clock::duration inference_time() const { return mean(computed_); }

 private:
  template <Servable>
  friend class Batcher;

  static std::vector<std::size_t> lengths(const std::vector<Encoded>& texts) {
    std::vector<std::size_t> tokens;
    for (const Encoded& text : texts) tokens.push_back(text.input_ids.size());
    return tokens;
  }

  [[nodiscard]] Clock::duration mean(Clock::duration sum) const {
    return sum / static_cast<Clock::rep>(std::max<std::size_t>(size(), 1));
  }

  /// Puts the logits of each text that was cut in the place of those of its windows.
  void pool() {
    if constexpr (predict::ReadsWindows<P>) {
      std::size_t to = 0, from = 0;
      const auto keep_until = [&](std::size_t end) {
        for (; from < end; ++from, ++to) {
          if (from == to) continue;
          rows_[to] = std::move(rows_[from]);
          windows_[to] = windows_[from];
        }
      };
      for (const CutText& cut : cuts_) {
        keep_until(cut.first);
        from += cut.windows.size();
        auto pooled = model_->predictor.pooled(stacked(cut.first, from));
        rows_[to] = std::move(pooled.logits);
        windows_[to++] =
            pooled.deciding ? cut.windows.at(*pooled.deciding) : text::DecidingWindow{};
      }
      keep_until(rows_.size());
      rows_.resize(to);
      windows_.resize(to);
    }
  }

  /// Returns the logits of the parts from `begin` to before `end`.
  [[nodiscard]] metrics::Logits stacked(std::size_t begin, std::size_t end) const {
    metrics::Logits logits{end - begin, rows_[begin].size()};
    for (std::size_t i = begin; i < end; ++i) {
      std::ranges::copy(rows_[i], logits.row(static_cast<Eigen::Index>(i - begin)).data());
    }
    return logits;
  }

  void finish() {
    if (const auto done = std::exchange(done_, {})) done();
  }

  void refuse(const HttpError& error) {
    if (!done_) return;
    error_ = error;
    finish();
  }

  Model model_;
  std::vector<Encoded> parts_;
  std::vector<CutText> cuts_;
  std::vector<std::vector<float>> rows_;
  std::vector<text::DecidingWindow> windows_;
  std::size_t missing_;
  Clock::duration queued_{};
  Clock::duration computed_{};
  std::optional<HttpError> error_;
  std::function<void()> done_;
};

/// Options of `Batcher`.
struct BatcherOptions {
  std::size_t max_batch_tokens = 16384;
  /// The time that a batch should take at most, by the rate of the one before it. It bounds how
  /// long a short text waits for the texts or windows of a long request.
  Clock::duration max_batch_time = std::chrono::milliseconds{250};
  /// Longest wait of a job's first text; then the job is refused.
  Clock::duration max_wait = std::chrono::seconds{60};
  std::function<Clock::time_point()> now = &Clock::now;
};

/// Passes the texts of all jobs to the model in batches, on its own thread. A batch starts as soon
/// as the model is idle. While the model works, jobs collect in the queue.
template <Servable P>
class Batcher {
 public:
  Batcher(BatcherOptions options, PrometheusMetrics& metrics)
      : options_{std::move(options)}, metrics_{metrics}, thread_{[this] { work(); }} {}
  /// Finishes the jobs that are in the queue, then ends the thread.
  ~Batcher() {
    {
      const std::lock_guard lock{mutex_};
      ended_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  /// Adds a job, which must have at least one text, to the queue.
  void submit(std::shared_ptr<Job<P>> job) {
    {
      const std::lock_guard lock{mutex_};
      queue_.push(std::move(job));
      update_gauge();
    }
    wake_.notify_one();
  }

  /// Removes a job that nobody waits for from the queue. Its `done` may still be called if the
  /// model already has its last texts.
  void cancel(const Job<P>& job) {
    const std::lock_guard lock{mutex_};
    queue_.remove(job);
    update_gauge();
  }

 private:
  using Batch = std::vector<Queue::Pick>;
  /// A batch may have so many tokens however long they take.
  static constexpr std::size_t least_tokens = 512;

  static Job<P>& job_of(const std::shared_ptr<Ticket>& ticket) {
    return static_cast<Job<P>&>(*ticket);
  }

  void update_gauge() { metrics_.queue_size = static_cast<std::int64_t>(queue_.texts()); }

  void work() {
    for (std::unique_lock lock{mutex_};; lock.lock()) {
      wake_.wait(lock, [this] { return ended_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const auto late = queue_.remove_older(options_.now() - options_.max_wait);
      Batch batch = queue_.take(std::min(options_.max_batch_tokens, tokens_in_time_));
      update_gauge();
      lock.unlock();
      for (const auto& ticket : late) {
        job_of(ticket).refuse(overloaded("the model is overloaded: the request waited too long"));
      }
      // Neighbours with one adapter are computed together.
      std::ranges::stable_sort(batch, {}, [](const Queue::Pick& pick) {
        return job_of(pick.ticket).parts_[pick.text].adapter;
      });
      if (!batch.empty()) compute(batch);
    }
  }

  void compute(const Batch& batch) {
    std::vector<predict::Encoded> texts;
    std::size_t tokens = 0;
    const auto begin = options_.now();
    for (const auto& [ticket, text] : batch) {
      texts.push_back(std::move(job_of(ticket).parts_[text]));
      tokens += ticket->tokens(text);
      job_of(ticket).queued_ += begin - ticket->since();
    }
    metrics_.batch_size.add(static_cast<double>(batch.size()));
    metrics_.batch_tokens.add(static_cast<double>(tokens));
    try {
      const P& predictor = job_of(batch.front().ticket).model_->predictor;
      std::vector<text::DecidingWindow> deciding;
      const metrics::Logits logits = predict::logits_of(predictor, texts, &deciding);
      deciding.resize(batch.size());
      const auto time = options_.now() - begin;
      note_rate(tokens, time);
      share_out(batch, logits, deciding, time);
    } catch (const std::exception& error) {
      fail(batch, backend(std::string{"Inference failed: "} + error.what()));
    }
  }

  void share_out(const Batch& batch, const metrics::Logits& logits,
                 std::span<const text::DecidingWindow> deciding, Clock::duration time) {
    if (logits.cols() == 0 || logits.rows() != std::ssize(batch)) {
      throw Error{"the model gave " + std::to_string(logits.size()) + " logits for " +
                  std::to_string(batch.size()) + " texts"};
    }
    const auto width = static_cast<std::size_t>(logits.cols());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      auto& job = job_of(batch[i].ticket);
      const std::size_t own = job.model_->predictor.task().labels.size();
      const std::span row{logits.data() + i * width, own == 0 ? width : std::min(own, width)};
      job.rows_[batch[i].text].assign(row.begin(), row.end());
      job.windows_[batch[i].text] = deciding[i];
      job.computed_ += time;
      if (--job.missing_ > 0) continue;
      job.pool();
      job.finish();
    }
  }

  /// Notes how many tokens the model computes within `max_batch_time`.
  void note_rate(std::size_t tokens, Clock::duration time) {
    const double share = static_cast<double>(options_.max_batch_time.count()) /
                         static_cast<double>(std::max<Clock::rep>(time.count(), 1));
    const double within = std::min(static_cast<double>(tokens) * share, 1e9);
    tokens_in_time_ = std::max(static_cast<std::size_t>(within), least_tokens);
  }

  void fail(const Batch& batch, const HttpError& error) {
    for (const auto& pick : batch) {
      cancel(job_of(pick.ticket));
      job_of(pick.ticket).refuse(error);
    }
  }

  BatcherOptions options_;
  PrometheusMetrics& metrics_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Queue queue_;
  bool ended_ = false;
  std::size_t tokens_in_time_ = least_tokens;  // the model's thread alone uses it
  std::thread thread_;                         // The last member, because it uses the others.
};

}  // namespace seqtrain::serve
