#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/optim/step.hpp>

namespace seqtrain::tests {

/// The smallest policies that train something: one weight w, examples x with the target 2x, and the
/// loss mean (wx - 2x)^2, whose gradient is known by hand.
struct FakeBatch {
  std::int64_t rows = 0;
  std::vector<double> x;
  std::vector<std::int64_t> labels;
  [[nodiscard]] std::int64_t tokens() const { return 3 * rows; }
};

struct FakeParameter {
  double* value;
  double* gradient;
};

struct FakeLoss {
  double value;
  explicit operator double() const { return value; }
};

class FakeModel {
 public:
  using batch_type = FakeBatch;
  using loss_type = FakeLoss;
  using parameter_type = FakeParameter;
  using output_type = metrics::Logits;

  FakeLoss accumulate(const FakeBatch& batch, double weight) {
    double loss = 0;
    for (const double x : batch.x) {
      const double error = state_->w * x - 2 * x;
      loss += error * error / static_cast<double>(batch.rows);
      state_->gradient += weight * 2 * error * x / static_cast<double>(batch.rows);
    }
    return {loss};
  }

  /// Says label 1 for every example whose x the model takes for positive.
  metrics::Logits logits(const FakeBatch& batch) {
    metrics::Logits result(batch.rows, 2);
    for (Eigen::Index row = 0; row < batch.rows; ++row) {
      const double x = batch.x[static_cast<std::size_t>(row)];
      result.row(row) << 0.0F, static_cast<float>(state_->w * x);
    }
    return result;
  }

  [[nodiscard]] std::span<const FakeParameter> parameters() const { return state_->parameters; }
  [[nodiscard]] double weight() const { return state_->w; }

 private:
  struct State {
    double w = 0;
    double gradient = 0;
    std::vector<FakeParameter> parameters{{&w, &gradient}};
  };
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

class FakeSgd {
 public:
  using parameter_type = FakeParameter;

  explicit FakeSgd(double learning_rate) : learning_rate_{learning_rate} {}

  void step(std::span<const FakeParameter> parameters, optim::Step step) {
    steps.push_back(step);
    for (const auto& parameter : parameters) {
      *parameter.value -= learning_rate_ * step.lr_scale * *parameter.gradient;
      *parameter.gradient = 0;
    }
  }
  [[nodiscard]] double learning_rate() const { return learning_rate_; }

  std::vector<optim::Step> steps;

 private:
  double learning_rate_;
};

/// Cuts its examples into batches, in order; a later epoch begins one example later.
class FakeLoader {
 public:
  using batch_type = FakeBatch;

  FakeLoader(std::vector<double> x, std::size_t batch_size)
      : x_{std::move(x)}, batch_size_{batch_size} {}

  [[nodiscard]] std::vector<FakeBatch> epoch(std::int64_t number) const {
    std::vector<FakeBatch> batches;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (i % batch_size_ == 0) batches.emplace_back();
      const double x = x_[(i + static_cast<std::size_t>(number)) % x_.size()];
      batches.back().rows++;
      batches.back().x.push_back(x);
      batches.back().labels.push_back(x > 0 ? 1 : 0);
    }
    return batches;
  }
  [[nodiscard]] std::int64_t batches_in(std::int64_t) const {
    return static_cast<std::int64_t>((x_.size() + batch_size_ - 1) / batch_size_);
  }
  [[nodiscard]] std::int64_t examples() const { return static_cast<std::int64_t>(x_.size()); }

 private:
  std::vector<double> x_;
  std::size_t batch_size_;
};

/// Remembers the keys it was given.
struct FakeSink {
  void put(std::string_view key, std::span<const std::byte>) { keys.emplace_back(key); }
  void put_file(std::string_view key, const std::filesystem::path&) { keys.emplace_back(key); }
  void flush() { ++flushes; }

  std::vector<std::string> keys = {};
  int flushes = 0;
};

}  // namespace seqtrain::tests
