#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

namespace seqtrain::experiment {

namespace few_shot {

/// A linear layer from features to the logits of labels: a row for each feature, and the last row
/// is the bias.
using LogitMap = Eigen::MatrixXd;

namespace detail {

/// The sum of the cross-entropies of rows and half the squares of the weights, but not of the bias.
class PenalizedLoss {
 public:
  PenalizedLoss(const Eigen::MatrixXd& features, std::span<const std::int64_t> labels,
                Eigen::Index count)
      : x_(features.rows(), features.cols() + 1),
        truth_{Eigen::MatrixXd::Zero(features.rows(), count)},
        logits_of_(Eigen::MatrixXd::Identity(count, count)) {
    x_ << features, Eigen::VectorXd::Ones(features.rows());
    for (Eigen::Index row = 0; row < truth_.rows(); ++row) {
      truth_(row, labels[static_cast<std::size_t>(row)]) = 1;
    }
    // If there are two labels, scikit-learn learns only the difference of their logits.
    if (count == 2) logits_of_ = Eigen::RowVector2d{-0.5, 0.5};
  }

  [[nodiscard]] LogitMap zero() const { return LogitMap::Zero(x_.cols(), logits_of_.rows()); }
  [[nodiscard]] LogitMap whole(const LogitMap& map) const { return map * logits_of_; }

  double operator()(const LogitMap& map, LogitMap& gradient) const {
    const Eigen::MatrixXd logits = x_ * map * logits_of_;
    const Eigen::VectorXd most = logits.rowwise().maxCoeff();
    const Eigen::ArrayXXd powers = (logits.colwise() - most).array().exp();
    const Eigen::ArrayXd sums = powers.rowwise().sum();
    const Eigen::MatrixXd wrong = (powers.colwise() / sums).matrix() - truth_;
    const auto weights = map.topRows(map.rows() - 1);
    gradient = x_.transpose() * wrong * logits_of_.transpose();
    gradient.topRows(map.rows() - 1) += weights;
    return (most.array() + sums.log()).sum() - logits.cwiseProduct(truth_).sum() +
           weights.squaredNorm() / 2;
  }

 private:
  Eigen::MatrixXd x_;
  Eigen::MatrixXd truth_;
  Eigen::MatrixXd logits_of_;  // of the numbers that are learnt for a row
};

inline double dot(const LogitMap& a, const LogitMap& b) {
  return a.cwiseProduct(b).sum();
}

}  // namespace detail

/// Returns the map for features [rows, features] and their labels below `count` that scikit-learn's
/// `LogisticRegression` converges to with its default penalty, C = 1. It is found by L-BFGS (Liu
/// and Nocedal 1989).
[[nodiscard]] inline LogitMap logistic_regression(const Eigen::MatrixXd& features,
                                                  std::span<const std::int64_t> labels,
                                                  Eigen::Index count) {
  constexpr std::size_t memory = 10;
  constexpr int most_steps = 5000;
  constexpr double flat = 1e-8;
  const detail::PenalizedLoss loss{features, labels, count};
  LogitMap map = loss.zero(), gradient, next_gradient;
  double value = loss(map, gradient);
  std::deque<std::pair<LogitMap, LogitMap>> changes;  // of the map and of the gradient
  for (int i = 0; i < most_steps && gradient.cwiseAbs().maxCoeff() > flat; ++i) {
    LogitMap direction = -gradient;
    std::vector<double> shares;
    for (auto at = changes.rbegin(); at != changes.rend(); ++at) {
      shares.push_back(detail::dot(at->first, direction) / detail::dot(at->first, at->second));
      direction -= shares.back() * at->second;
    }
    if (changes.empty()) {
      direction /= std::max(1.0, gradient.norm());
    } else {
      const auto& [step, turn] = changes.back();
      direction *= detail::dot(step, turn) / turn.squaredNorm();
    }
    for (const auto& [step, turn] : changes) {
      direction += (shares.back() - detail::dot(turn, direction) / detail::dot(step, turn)) * step;
      shares.pop_back();
    }
    const double slope = detail::dot(gradient, direction);
    double rate = 1, next = loss(map + direction, next_gradient);
    while (next > value + 1e-4 * rate * slope && rate > 1e-9) {
      rate /= 2;
      next = loss(map + rate * direction, next_gradient);
    }
    if (!(next < value)) break;  // no more digits
    changes.emplace_back(rate * direction, next_gradient - gradient);
    if (!(detail::dot(changes.back().first, changes.back().second) > 0)) changes.pop_back();
    if (changes.size() > memory) changes.pop_front();
    map += rate * direction;
    value = next;
    gradient.swap(next_gradient);
  }
  return loss.whole(map);
}

}  // namespace few_shot

}  // namespace seqtrain::experiment
