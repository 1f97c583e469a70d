#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/baseline/linear_model.hpp>
#include <seqtrain/baseline/tiled_rows.hpp>
#include <seqtrain/core/thread_team.hpp>

namespace seqtrain::baseline {

/// A point of the search for a linear model: weights [columns, outputs], and a bias for each
/// output. The weights are a sum of the rows: `shares` [rows, outputs] says how much of each row
/// belongs to the weights of each output. There are as many of them as rows, which are mostly fewer
/// than columns, and a gradient is such a sum too. `logits` are the products of all rows with the
/// weights.
struct LinearPoint {
  std::vector<float> shares;
  std::vector<float> logits;
  std::vector<double> bias;
};

/// The function that a linear model minimizes: the losses of all rows, and half of `penalty` times
/// the squares of the weights but not of the biases. Its sums have an order that does not depend on
/// the number of threads.
class LinearProblem {
 public:
  LinearProblem(const LinearData& data, double penalty, std::size_t threads)
      : data_{data},
        penalty_{penalty},
        team_{team_size(data, threads)},
        width_{data.outputs == 1   ? 1U
               : data.outputs <= 4 ? 4U
                                   : 8U},
        stride_{(data.outputs + width_ - 1) / width_ * width_} {}

  [[nodiscard]] LinearPoint zero() const {
    const std::size_t numbers = data_.rows.size() * stride_;
    return {std::vector<float>(numbers), std::vector<float>(numbers),
            std::vector<double>(data_.outputs)};
  }

  /// Returns the value of the function at `point` + `rate` · `step`.
  [[nodiscard]] double value(const LinearPoint& point, const LinearPoint& step, double rate) const {
    const double losses = sum_over_rows([&](std::size_t begin, std::size_t end) {
      std::vector<double> logits(data_.outputs);
      double sum = 0;
      for (std::size_t row = begin; row < end; ++row) {
        for (std::size_t k = 0; k < data_.outputs; ++k) {
          const std::size_t i = row * stride_ + k;
          logits[k] = point.logits[i] + point.bias[k] + rate * (step.logits[i] + step.bias[k]);
        }
        sum += loss_of(row, logits, {});
      }
      return sum;
    });
    const double squares = weights_dot(point, point) + 2 * rate * weights_dot(point, step) +
                           rate * rate * weights_dot(step, step);
    return losses + penalty_ / 2 * squares;
  }

  /// Sets `gradient` to the gradient of the function at a point.
  void set_gradient(const LinearPoint& point, LinearPoint& gradient) const {
    std::vector<std::vector<double>> sums(blocks());
    over_blocks([&](std::size_t block, std::size_t begin, std::size_t end) {
      std::vector<double> logits(data_.outputs), slopes(data_.outputs);
      sums[block].assign(data_.outputs, 0);
      for (std::size_t row = begin; row < end; ++row) {
        for (std::size_t k = 0; k < data_.outputs; ++k) {
          logits[k] = point.logits[row * stride_ + k] + point.bias[k];
        }
        (void)loss_of(row, logits, slopes);
        for (std::size_t k = 0; k < data_.outputs; ++k) {
          sums[block][k] += slopes[k];
          gradient.shares[row * stride_ + k] = static_cast<float>(
              slopes[k] + penalty_ * static_cast<double>(point.shares[row * stride_ + k]));
        }
      }
    });
    std::ranges::fill(gradient.bias, 0);
    for (const auto& block : sums) {
      for (std::size_t k = 0; k < data_.outputs; ++k) gradient.bias[k] += block[k];
    }
    set_logits(gradient);
  }

  /// Returns the sum of the products of two points' numbers.
  [[nodiscard]] double dot(const LinearPoint& a, const LinearPoint& b) const {
    return weights_dot(a, b) +
           std::inner_product(a.bias.begin(), a.bias.end(), b.bias.begin(), 0.0);
  }

  /// Adds `scale` · `other` to a point that is scaled by `own` before.
  void combine(double own, LinearPoint& point, double scale, const LinearPoint& other) const {
    const auto a = static_cast<float>(own), b = static_cast<float>(scale);
    over_blocks([&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin * stride_; i < end * stride_; ++i) {
        point.shares[i] = a * point.shares[i] + b * other.shares[i];
        point.logits[i] = a * point.logits[i] + b * other.logits[i];
      }
    });
    for (std::size_t k = 0; k < data_.outputs; ++k) {
      point.bias[k] = own * point.bias[k] + scale * other.bias[k];
    }
  }

  /// Returns the weights [columns, outputs] of a point.
  [[nodiscard]] std::vector<float> weights(const LinearPoint& point) const {
    std::vector<float> result(data_.rows.columns() * data_.outputs), sums;
    for (std::size_t first = 0; first < stride_; first += width_) {
      set_sums(point.shares, first, sums);
      for (std::size_t column = 0; column < data_.rows.columns(); ++column) {
        for (std::size_t k = first; k < std::min(first + width_, data_.outputs); ++k) {
          result[column * data_.outputs + k] = sums[column * width_ + k - first];
        }
      }
    }
    return result;
  }

 private:
  /// Returns the number of threads that are worth their while.
  static std::size_t team_size(const LinearData& data, std::size_t threads) {
    constexpr std::size_t products_of_thread = 50'000;
    const std::size_t products = data.rows.entries() * data.outputs;
    return std::clamp<std::size_t>(products / products_of_thread, 1,
                                   std::max<std::size_t>(1, threads));
  }

  /// Rows are worked on in so many blocks, whatever the number of threads.
  [[nodiscard]] std::size_t blocks() const {
    return std::min<std::size_t>(64, std::max<std::size_t>(1, data_.rows.size()));
  }

  template <class Body>
  void over_blocks(const Body& body) const {
    const std::size_t rows = data_.rows.size(), count = blocks();
    team_.run(count, [&](std::size_t block, std::size_t) {
      body(block, rows * block / count, rows * (block + 1) / count);
    });
  }

  template <class Sum>
  [[nodiscard]] double sum_over_rows(const Sum& sum) const {
    std::vector<double> sums(blocks());
    over_blocks([&](std::size_t block, std::size_t begin, std::size_t end) {
      sums[block] = sum(begin, end);
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  [[nodiscard]] double weights_dot(const LinearPoint& a, const LinearPoint& b) const {
    return sum_over_rows([&](std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t i = begin * stride_; i < end * stride_; ++i) {
        sum += static_cast<double>(a.shares[i]) * static_cast<double>(b.logits[i]);
      }
      return sum;
    });
  }

  [[nodiscard]] double weight_of_one(std::size_t output) const {
    return data_.weights_of_one.empty() ? 1.0 : static_cast<double>(data_.weights_of_one[output]);
  }
  [[nodiscard]] double weight_of_zero(std::size_t output) const {
    return data_.weights_of_zero.empty() ? 1.0 : static_cast<double>(data_.weights_of_zero[output]);
  }

  /// Returns the loss of a row. Sets `slopes`, unless it is empty, to the derivatives by the
  /// logits.
  double loss_of(std::size_t row, std::span<const double> logits, std::span<double> slopes) const {
    const std::span targets = std::span{data_.targets}.subspan(row * logits.size(), logits.size());
    if (data_.loss == Loss::softmax) return softmax_loss(targets, logits, slopes);
    double sum = 0;
    for (std::size_t k = 0; k < logits.size(); ++k) {
      const auto target = static_cast<double>(targets[k]);
      if (data_.loss == Loss::squared) {
        sum += (logits[k] - target) * (logits[k] - target) / 2;
        if (!slopes.empty()) slopes[k] = logits[k] - target;
        continue;
      }
      const double weight = target * weight_of_one(k) + (1 - target) * weight_of_zero(k);
      const double small = std::exp(-std::abs(logits[k]));
      sum += weight * (std::max(logits[k], 0.0) + std::log1p(small) - target * logits[k]);
      const double probability = (logits[k] > 0 ? 1 : small) / (1 + small);
      if (!slopes.empty()) slopes[k] = weight * (probability - target);
    }
    return sum;
  }

  double softmax_loss(std::span<const float> targets, std::span<const double> logits,
                      std::span<double> slopes) const {
    const double most = *std::ranges::max_element(logits);
    double sum = 0, weight = 0, right = 0;
    for (std::size_t k = 0; k < logits.size(); ++k) {
      const auto target = static_cast<double>(targets[k]);
      const double power = std::exp(logits[k] - most);
      sum += power;
      weight += target * weight_of_one(k);
      right += target * (logits[k] - most);
      if (!slopes.empty()) slopes[k] = power;
    }
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      slopes[k] = weight * (slopes[k] / sum - static_cast<double>(targets[k]));
    }
    return weight * (std::log(sum) - right);
  }

  /// Calls `body` with the width as a constant, so that its loops over outputs become vectors.
  template <class Body>
  void with_width(const Body& body) const {
    if (width_ == 1) return body(std::integral_constant<std::size_t, 1>{});
    if (width_ == 4) return body(std::integral_constant<std::size_t, 4>{});
    body(std::integral_constant<std::size_t, 8>{});
  }

  /// Sets `sums` [columns, width] to the sums of the rows for the outputs `first` to `first` +
  /// width.
  void set_sums(const std::vector<float>& shares, std::size_t first,
                std::vector<float>& sums) const {
    sums.resize(data_.rows.columns() * width_);
    team_.run(data_.rows.pieces(),
              [&](std::size_t piece, std::size_t) { add_rows(shares, first, piece, sums); });
  }

  /// Does the work of `set_sums` for the columns of a piece.
  void add_rows(const std::vector<float>& shares, std::size_t first, std::size_t piece,
                std::vector<float>& sums) const {
    const auto at_column = [&](std::size_t column) {
      return sums.begin() + static_cast<std::ptrdiff_t>(column * width_);
    };
    std::fill(at_column(data_.rows.first_column(piece)),
              at_column(data_.rows.first_column(piece + 1)), 0.0F);
    with_width([&](auto width) {
      const auto add = [&](std::size_t row, std::span<const Entry> entries) {
        std::array<float, width()> share;  // which the sums do not overlap
        std::copy_n(shares.data() + row * stride_ + first, width(), share.begin());
        for (const auto& [column, value] : entries) {
          float* const sum = sums.data() + column * width();
          for (std::size_t k = 0; k < width(); ++k) sum[k] += value * share[k];
        }
      };
      for (std::size_t tile = 0; tile < data_.rows.tiles(); ++tile) {
        data_.rows.for_each(tile, piece, add);
      }
    });
  }

  /// Sets the logits of the rows in some tiles to the products of the rows with weights.
  void multiply_rows(const std::vector<float>& weights, std::size_t first, std::size_t begin,
                     std::size_t end, std::vector<float>& logits) const {
    with_width([&](auto width) {
      for (std::size_t piece = 0; piece < data_.rows.pieces(); ++piece) {
        const auto multiply = [&](std::size_t row, std::span<const Entry> entries) {
          std::array<float, width()> sum{};
          float* const logit = logits.data() + row * stride_ + first;
          if (piece > 0) std::copy_n(logit, width(), sum.begin());
          for (const auto& [column, value] : entries) {
            const float* const weight = weights.data() + column * width();
            for (std::size_t k = 0; k < width(); ++k) sum[k] += value * weight[k];
          }
          std::copy_n(sum.begin(), width(), logit);
        };
        for (std::size_t tile = begin; tile < end; ++tile) {
          data_.rows.for_each(tile, piece, multiply);
        }
      }
    });
  }

  /// Sets a point's logits to those of its shares. Each thread works on some of the outputs, or, if
  /// they are few, on some of the columns and then on some of the rows.
  void set_logits(LinearPoint& point) const {
    const TiledRows& rows = data_.rows;
    const std::size_t groups = stride_ / width_;
    if (groups >= TiledRows::most_pieces) {
      return team_.run(groups, [&](std::size_t group, std::size_t) {
        std::vector<float> sums(rows.columns() * width_);
        for (std::size_t piece = 0; piece < rows.pieces(); ++piece) {
          add_rows(point.shares, group * width_, piece, sums);
        }
        multiply_rows(sums, group * width_, 0, rows.tiles(), point.logits);
      });
    }
    std::vector<float> sums;
    for (std::size_t first = 0; first < stride_; first += width_) {
      set_sums(point.shares, first, sums);
      team_.run(rows.tiles(), [&](std::size_t tile, std::size_t) {
        multiply_rows(sums, first, tile, tile + 1, point.logits);
      });
    }
  }

  const LinearData& data_;
  double penalty_;
  mutable ThreadTeam team_;
  std::size_t width_;   ///< outputs that are worked on together
  std::size_t stride_;  ///< numbers of a row of shares or logits, a multiple of the width
};

}  // namespace seqtrain::baseline
