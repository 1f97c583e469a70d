#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/json_writer.hpp>

namespace seqtrain::serve {

/// A histogram as in Prometheus. Several threads may add observations.
class Histogram {
 public:
  /// The upper bounds of the buckets are `first`, `first * factor`, `first * factor * factor` and
  /// so on.
  Histogram(double first, double factor, std::size_t count) : buckets_(count + 1) {
    for (double bound = first; bounds_.size() < count; bound *= factor) bounds_.push_back(bound);
  }

  void add(double value) {
    const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
    buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }
  void add(std::chrono::nanoseconds time) { add(std::chrono::duration<double>{time}.count()); }

  /// Appends the histogram in Prometheus' text format.
  void write(std::string& out, const std::string& name) const {
    out += "# TYPE " + name + " histogram\n";
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      total += buckets_[i].load(std::memory_order_relaxed);
      const std::string bound = i < bounds_.size() ? number(bounds_[i]) : "+Inf";
      out += name + "_bucket{le=\"" + bound + "\"} " + std::to_string(total) + "\n";
    }
    out += name + "_sum " + number(sum_.load(std::memory_order_relaxed)) + "\n";
    out += name + "_count " + std::to_string(total) + "\n";
  }

 private:
  static std::string number(double value) { return json::Writer{}.value(value).text(); }

  std::vector<double> bounds_;
  std::vector<std::atomic<std::uint64_t>> buckets_;
  std::atomic<double> sum_{0};
};

/// One counter for each value of a label. Several threads may add.
class Counters {
 public:
  explicit Counters(std::string label) : label_{std::move(label)} {}

  void add(std::string_view value) {
    const std::lock_guard lock{mutex_};
    const auto found = counts_.find(value);
    (found == counts_.end() ? counts_.emplace(value, 0).first : found)->second += 1;
  }

  /// Returns the counter for a value of the label.
  [[nodiscard]] std::uint64_t count(std::string_view value) const {
    const std::lock_guard lock{mutex_};
    const auto found = counts_.find(value);
    return found == counts_.end() ? 0 : found->second;
  }

  /// Appends the counts in Prometheus' text format. Values are not escaped.
  void write(std::string& out, const std::string& name) const {
    out += "# TYPE " + name + " counter\n";
    const std::lock_guard lock{mutex_};
    for (const auto& [value, count] : counts_) {
      out += name + "{" + label_ + "=\"" + value + "\"} " + std::to_string(count) + "\n";
    }
  }

 private:
  std::string label_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
};

/// The metrics that `/metrics` reports, under the names of text-embeddings-inference.
struct PrometheusMetrics {
  Counters requests{"method"};
  Counters successes{"method"};
  Counters failures{"err"};
  Counters adapters{"adapter"};
  Histogram duration{1.5e-5, 1.5, 36};  // up to 22 s
  Histogram tokenization{1.5e-5, 1.5, 36};
  Histogram queueing{1.5e-5, 1.5, 36};
  Histogram inference{1.5e-5, 1.5, 36};
  Histogram input_length{1, 2, 14};
  Histogram batch_size{1, 2, 13};
  Histogram batch_tokens{1, 2, 21};
  std::atomic<std::int64_t> queue_size = 0;   ///< texts that wait for the model
  std::atomic<std::int64_t> connections = 0;  ///< open connections

  /// Returns all metrics in Prometheus' text format.
  [[nodiscard]] std::string text() const {
    std::string out;
    requests.write(out, "te_request_count");
    successes.write(out, "te_request_success");
    failures.write(out, "te_request_failure");
    adapters.write(out, "seqtrain_adapter_requests");
    duration.write(out, "te_request_duration");
    tokenization.write(out, "te_request_tokenization_duration");
    queueing.write(out, "te_request_queue_duration");
    inference.write(out, "te_request_inference_duration");
    input_length.write(out, "te_request_input_length");
    batch_size.write(out, "te_batch_next_size");
    batch_tokens.write(out, "te_batch_next_tokens");
    gauge(out, "te_queue_size", queue_size.load());
    gauge(out, "seqtrain_connections", connections.load());
    return out;
  }

 private:
  static void gauge(std::string& out, const std::string& name, std::int64_t value) {
    out += "# TYPE " + name + " gauge\n" + name + " " + std::to_string(value) + "\n";
  }
};

}  // namespace seqtrain::serve
