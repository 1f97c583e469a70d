#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/lstm_cell.hpp>

namespace seqtrain::kernels {
namespace {

constexpr std::size_t cell_rows = 3;
constexpr std::size_t cell_units = 13;  // of 16
constexpr std::size_t cell_ld = 32;

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

float made(std::size_t i, double scale) {
  return static_cast<float>(scale * std::sin(1.7 * static_cast<double>(i) + 0.3));
}

/// The inputs and outputs of a step.
template <class T>
struct Cell {
  std::vector<float> sums, bias, before, after, hidden, d_hidden, d_input, d_cell;
  std::vector<T> gates, input, d_gates;

  Cell()
      : sums(cell_rows * lstm_panel),
        bias(lstm_panel),
        before(cell_rows * cell_ld),
        after(cell_rows * cell_ld),
        hidden(cell_rows * cell_ld, -7),
        d_hidden(cell_rows * cell_ld),
        d_input(cell_rows * cell_ld),
        d_cell(cell_rows * cell_ld),
        gates(cell_rows * lstm_panel),
        input(cell_rows * cell_ld),
        d_gates(cell_rows * lstm_panel) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = made(i, 2.5);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = made(i + 1'000, 0.5);
    for (std::size_t i = 0; i < before.size(); ++i) {
      before[i] = made(i + 2'000, 1.2);
      d_hidden[i] = made(i + 3'000, 1);
      d_input[i] = made(i + 4'000, 1);
      d_cell[i] = made(i + 5'000, 1);
    }
  }

  void forward() {
    lstm_forward<T>({.rows = cell_rows,
                     .units = cell_units,
                     .sums = sums.data(),
                     .bias = bias.data(),
                     .cell_before = before.data(),
                     .gates = gates.data(),
                     .cell = after.data(),
                     .ld_cell = cell_ld,
                     .input = input.data(),
                     .ld_input = cell_ld,
                     .hidden = hidden.data(),
                     .ld_hidden = cell_ld});
  }

  void backward() {
    lstm_backward<T>({.rows = cell_rows,
                      .units = cell_units,
                      .d_hidden = d_hidden.data(),
                      .ld_hidden = cell_ld,
                      .d_input = d_input.data(),
                      .ld_d_input = cell_ld,
                      .gates = gates.data(),
                      .cell_before = before.data(),
                      .cell = after.data(),
                      .d_cell = d_cell.data(),
                      .ld_cell = cell_ld,
                      .d_gates = d_gates.data(),
                      .ld_d_gates = lstm_panel});
  }

  /// The hidden state and the cell of a unit by the formula in double, from its four sums and its
  /// earlier cell.
  struct Answer {
    double hidden, cell;
  };
  static Answer formula(const double (&x)[4], double cell) {
    const double after = logistic(x[1]) * cell + logistic(x[0]) * std::tanh(x[2]);
    return {logistic(x[3]) * std::tanh(after), after};
  }

  void arguments(std::size_t row, std::size_t unit, double (&x)[4]) const {
    for (std::size_t gate = 0; gate < 4; ++gate) {
      const std::size_t column = gate * lstm_units + unit;
      x[gate] =
          static_cast<double>(sums[row * lstm_panel + column]) + static_cast<double>(bias[column]);
    }
  }

  void expect_forward(double tolerance) const {
    for (std::size_t row = 0; row < cell_rows; ++row) {
      for (std::size_t unit = 0; unit < cell_units; ++unit) {
        double x[4];
        arguments(row, unit, x);
        const std::size_t place = row * cell_ld + unit;
        const Answer answer = formula(x, static_cast<double>(before[place]));
        EXPECT_NEAR(after[place], answer.cell, 1e-6);
        EXPECT_NEAR(hidden[place], answer.hidden, 1e-6);
        EXPECT_NEAR(to_float(input[place]), answer.hidden, tolerance);
      }
      EXPECT_EQ(hidden[row * cell_ld + cell_units], -7);  // must not be written
    }
  }

  /// Compares with the formula's central differences. `later` is the cell's gradient from later
  /// steps.
  void expect_backward(const std::vector<float>& later, double tolerance) const {
    constexpr double h = 1e-5;
    for (std::size_t row = 0; row < cell_rows; ++row) {
      for (std::size_t unit = 0; unit < cell_units; ++unit) {
        const std::size_t place = row * cell_ld + unit;
        const double d_h =
            static_cast<double>(d_hidden[place]) + static_cast<double>(d_input[place]);
        const auto value = [&](std::size_t gate, double change) {
          double x[4];
          arguments(row, unit, x);
          double cell = static_cast<double>(before[place]);
          (gate < 4 ? x[gate] : cell) += change;
          const Answer answer = formula(x, cell);
          return d_h * answer.hidden + static_cast<double>(later[place]) * answer.cell;
        };
        for (std::size_t gate = 0; gate < 5; ++gate) {
          const double slope = (value(gate, h) - value(gate, -h)) / (2 * h);
          const float got = gate < 4
                                ? to_float(d_gates[row * lstm_panel + gate * lstm_units + unit])
                                : d_cell[place];
          EXPECT_NEAR(got, slope, tolerance) << row << " " << unit << " " << gate;
        }
      }
    }
  }
};

TEST(LstmCell, ComputesHiddenStatesAndCells) {
  Cell<float> cell;
  cell.forward();
  cell.expect_forward(1e-6);
  Cell<Bf16> rounded;
  rounded.forward();
  rounded.expect_forward(4e-3);
}

TEST(LstmCell, ComputesGradientsOfGatesAndCells) {
  Cell<float> cell;
  const auto later = cell.d_cell;
  cell.forward();
  cell.backward();
  cell.expect_backward(later, 3e-6);
  Cell<Bf16> rounded;
  rounded.forward();
  rounded.backward();
  rounded.expect_backward(later, 3e-2);
}

TEST(LstmCell, GatesMayTakeThePlaceOfTheSums) {
  Cell<float> apart, together;
  apart.forward();
  lstm_forward<float>({.rows = cell_rows,
                       .units = cell_units,
                       .sums = together.sums.data(),
                       .bias = together.bias.data(),
                       .cell_before = together.before.data(),
                       .gates = together.sums.data(),
                       .cell = together.after.data(),
                       .ld_cell = cell_ld,
                       .input = together.input.data(),
                       .ld_input = cell_ld,
                       .hidden = together.hidden.data(),
                       .ld_hidden = cell_ld});
  EXPECT_EQ(together.sums, apart.gates);
  EXPECT_EQ(together.hidden, apart.hidden);
}

TEST(LstmCell, SaturatesWithoutLosingFiniteNumbers) {
  Cell<float> cell;
  for (std::size_t i = 0; i < cell.sums.size(); ++i) cell.sums[i] = i % 2 == 0 ? 1e30F : -1e30F;
  cell.forward();
  cell.backward();
  for (const float value : cell.input) EXPECT_TRUE(std::isfinite(value));
  for (const float value : cell.d_gates) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace seqtrain::kernels
