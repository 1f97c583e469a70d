#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::tests {

/// The smallest policies that train something: one weight w, examples x with the target 2x, and the
/// loss mean (wx - 2x)^2, whose gradient has a simple formula.
struct FakeBatch {
  std::int64_t rows = 0;
  std::vector<double> x = {};
  std::vector<std::int64_t> labels = {};
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

/// Named numbers in the form that a checkpoint takes.
class FakeState {
 public:
  explicit FakeState(std::vector<std::pair<std::string, double>> numbers)
      : numbers_{std::make_shared<const std::vector<std::pair<std::string, double>>>(
            std::move(numbers))} {
    for (const auto& [name, number] : *numbers_) {
      views_.push_back({name, weights::DType::f64, {}, std::as_bytes(std::span{&number, 1})});
    }
  }

  [[nodiscard]] std::span<const weights::TensorView> views() const { return views_; }

  static double number(std::span<const weights::TensorView> tensors, std::string_view name) {
    for (const auto& tensor : tensors) {
      if (tensor.name != name) continue;
      double number = 0;
      std::memcpy(&number, tensor.bytes.data(), sizeof number);
      return number;
    }
    throw InputError{"is missing", {.object = "tensor " + std::string{name}}};
  }

 private:
  std::shared_ptr<const std::vector<std::pair<std::string, double>>> numbers_;
  std::vector<weights::TensorView> views_;
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

  /// Predicts label 1 for every example whose x the model takes for positive.
  metrics::Logits logits(const FakeBatch& batch) {
    metrics::Logits result(batch.rows, 2);
    for (Eigen::Index row = 0; row < batch.rows; ++row) {
      const double x = batch.x[static_cast<std::size_t>(row)];
      result.row(row) << 0.0F, static_cast<float>(state_->w * x);
    }
    return result;
  }

  /// Returns the cross-entropy of each row.
  [[nodiscard]] metrics::RowLosses losses(const metrics::Logits& logits,
                                          const FakeBatch& batch) const {
    metrics::RowLosses rows{.weights = std::vector<double>(batch.labels.size(), 1)};
    for (Eigen::Index row = 0; row < logits.rows(); ++row) {
      rows.losses.push_back(
          metrics::cross_entropy(logits.row(row), batch.labels[static_cast<std::size_t>(row)]));
    }
    return rows;
  }

  [[nodiscard]] std::span<const FakeParameter> parameters() const { return state_->parameters; }
  [[nodiscard]] double weight() const { return state_->w; }

  [[nodiscard]] FakeState state_dict() const { return FakeState{{{"w", state_->w}}}; }
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    state_->w = FakeState::number(tensors, "w");
  }

 private:
  struct State {
    double w = 0;
    double gradient = 0;
    std::vector<FakeParameter> parameters{{&w, &gradient}};
  };
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

/// A language model whose loss is the mean of |x|.
class WordModel : public FakeModel {
 public:
  static double evaluate(const FakeBatch& batch) {
    double sum = 0;
    for (const double x : batch.x) sum += std::abs(x);
    return sum / static_cast<double>(batch.rows);
  }

 private:
  using FakeModel::logits;
};

/// A model that is scored by its loss alone: by |x| of each row, with the weight 2.
class LossModel : public FakeModel {
 public:
  static metrics::RowLosses losses(const FakeBatch& batch) {
    metrics::RowLosses rows{.weights = std::vector<double>(batch.x.size(), 2)};
    for (const double x : batch.x) rows.losses.push_back(std::abs(x));
    return rows;
  }

 private:
  using FakeModel::logits;
};

class FakeSgd {
 public:
  using parameter_type = FakeParameter;

  explicit FakeSgd(double learning_rate) : learning_rate_{learning_rate} {}

  /// Takes a step with momentum 0.5, so that there is a state. As with Adam there is none before
  /// the first step. The outcome reports gradients that are not finite.
  optim::Outcome step(std::span<const FakeParameter> parameters, optim::Step step) {
    steps.push_back(step);
    optim::Outcome outcome;
    double squares = 0;
    for (const auto& parameter : parameters) {
      const double gradient = std::exchange(*parameter.gradient, 0);
      squares += gradient * gradient;
      if (!std::isfinite(gradient)) {
        outcome = optim::Outcome::not_taken("the gradient of w is not finite");
        continue;
      }
      momentum_ = 0.5 * momentum_.value_or(0) + gradient;
      *parameter.value -= learning_rate_ * step.lr_scale * *momentum_;
    }
    if (delay_) {
      outcome = optim::Outcome::on_device([outcome]() mutable { return outcome.problem(); });
    }
    return std::move(outcome).with_gradient_norm([squares] { return std::sqrt(squares); });
  }
  [[nodiscard]] double learning_rate() const { return learning_rate_; }

  [[nodiscard]] FakeState state() const {
    return momentum_ ? FakeState{{{"momentum", *momentum_}}} : FakeState{{}};
  }
  void load_state(std::span<const weights::TensorView> tensors, std::span<const FakeParameter>) {
    momentum_.reset();
    if (!tensors.empty()) momentum_ = FakeState::number(tensors, "momentum");
  }

  /// Acts like a device: the outcome of a step is known only later.
  void delay_outcomes() { delay_ = true; }

  std::vector<optim::Step> steps;

 private:
  double learning_rate_;
  std::optional<double> momentum_;
  bool delay_ = false;
};

/// Splits its examples into batches, in order. A later epoch begins one example later.
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

/// A sink that remembers its keys.
struct FakeSink {
  void put(std::string_view key, std::span<const std::byte>) { keys.emplace_back(key); }
  void put_file(std::string_view key, const std::filesystem::path&) { keys.emplace_back(key); }
  void flush() { ++flushes; }

  std::vector<std::string> keys = {};
  int flushes = 0;
};

}  // namespace seqtrain::tests
