#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/baseline/linear_model.hpp>
#include <seqtrain/baseline/linear_problem.hpp>
#include <seqtrain/baseline/tiled_rows.hpp>
#include <seqtrain/core/random.hpp>

namespace seqtrain::baseline {
namespace {

constexpr std::size_t columns = 3000;

/// Rows with a few entries each, from a fixed stream of random numbers.
TiledRows some_rows(std::size_t count) {
  const random::Stream stream{1, random::Purpose::data};
  SparseRows rows;
  std::uint64_t at = 0;
  for (std::size_t row = 0; row < count; ++row) {
    std::vector<Entry> entries;
    for (std::uint32_t column = 0; column < columns;) {
      entries.push_back({column, random::to_float(stream.at(at++)) - 0.3F});
      column += 1 + static_cast<std::uint32_t>(stream.at(at++) % 200);
    }
    rows.append(entries.size());
    std::copy(entries.begin(), entries.end(), rows[row].begin());
  }
  return {std::move(rows), columns};
}

/// Targets with one label for each row.
std::vector<float> some_targets(std::size_t rows, std::size_t outputs) {
  std::vector<float> targets(rows * outputs);
  for (std::size_t row = 0; row < rows; ++row) {
    targets[row * outputs + row * row % 7 % outputs] = 1;
  }
  return targets;
}

/// Returns the function's value at a step from zero.
double value_at(const LinearProblem& problem, const LinearPoint& step, double rate) {
  return problem.value(problem.zero(), step, rate);
}

class EachLoss : public testing::TestWithParam<std::pair<Loss, std::size_t>> {};

TEST_P(EachLoss, HasTheGradientOfItsValue) {
  const auto [loss, outputs] = GetParam();
  const TiledRows rows = some_rows(700);
  const LinearData data{.rows = rows,
                        .outputs = outputs,
                        .targets = some_targets(700, outputs),
                        .loss = loss,
                        .weights_of_one = std::vector<float>(outputs, 2.5F)};
  const LinearProblem problem{data, 0.5, 2};
  LinearPoint start = problem.zero(), step = problem.zero(), gradient = problem.zero();
  problem.set_gradient(start, step);  // a direction in which all weights change
  problem.combine(1, start, 0.01, step);
  problem.set_gradient(start, gradient);
  const double along = problem.dot(gradient, step);
  const double width = 1e-3 / std::sqrt(problem.dot(step, step));
  const double change = problem.value(start, step, width) - problem.value(start, step, -width);
  EXPECT_NEAR(change / (2 * width), along, 2e-3 * std::abs(along));
  EXPECT_GT(value_at(problem, step, 0), value_at(problem, step, -width));
}

TEST_P(EachLoss, IsFittedToTheSameBitsOnAnyNumberOfThreads) {
  const auto [loss, outputs] = GetParam();
  const TiledRows rows = some_rows(700);
  const LinearData data{
      .rows = rows, .outputs = outputs, .targets = some_targets(700, outputs), .loss = loss};
  const LinearModel one = fit_linear(data, {.most_steps = 12, .threads = 1});
  for (const std::size_t threads : {2U, 3U, 7U}) {
    const LinearModel other = fit_linear(data, {.most_steps = 12, .threads = threads});
    EXPECT_EQ(one.weights, other.weights);
    EXPECT_EQ(one.bias, other.bias);
  }
}

TEST_P(EachLoss, IsLeastWhereTheSearchEnds) {
  const auto [loss, outputs] = GetParam();
  const TiledRows rows = some_rows(300);
  const LinearData data{
      .rows = rows, .outputs = outputs, .targets = some_targets(300, outputs), .loss = loss};
  const LinearModel rough = fit_linear(data, {.tolerance = 0.05});
  const LinearModel fine = fit_linear(data, {.most_steps = 2000, .tolerance = 1e-5});
  const LinearModel finer = fit_linear(data, {.most_steps = 2000, .tolerance = 1e-6});
  const auto gap = [](const LinearModel& a, const LinearModel& b) {
    float most = 0;
    for (std::size_t i = 0; i < a.weights.size(); ++i) {
      most = std::max(most, std::abs(a.weights[i] - b.weights[i]));
    }
    return most;
  };
  EXPECT_LT(gap(fine, finer), 1e-3F);
  EXPECT_LT(gap(fine, finer), gap(rough, finer));
}

INSTANTIATE_TEST_SUITE_P(Losses, EachLoss,
                         testing::Values(std::pair{Loss::softmax, std::size_t{3}},
                                         std::pair{Loss::softmax, std::size_t{7}},
                                         std::pair{Loss::softmax, std::size_t{134}},
                                         std::pair{Loss::sigmoid, std::size_t{1}},
                                         std::pair{Loss::sigmoid, std::size_t{10}},
                                         std::pair{Loss::squared, std::size_t{1}}));

TEST(FitLinear, LearnsOnlyTheBiasOfRowsWithoutEntries) {
  SparseRows none;
  for (int i = 0; i < 4; ++i) none.append(0);
  const TiledRows rows{std::move(none), 2};
  const LinearData data{.rows = rows, .targets = {1, 2, 3, 6}, .loss = Loss::squared};
  const LinearModel model = fit_linear(data, {.tolerance = 1e-6});
  EXPECT_EQ(model.weights, (std::vector<float>{0, 0}));
  EXPECT_NEAR(model.bias[0], 3, 1e-4);
}

TEST(TiledRows, HasTheEntriesOfEachRow) {
  SparseRows rows;
  std::vector<float> sums;
  for (std::size_t row = 0; row < 600; ++row) {
    rows.append(row % 5);
    sums.push_back(0);
    for (std::size_t i = 0; i < row % 5; ++i) {
      rows[row][i] = {static_cast<std::uint32_t>(100 * i + row % 100), static_cast<float>(row + i)};
      sums.back() += rows[row][i].value;
    }
  }
  const TiledRows tiled{std::move(rows), 500};
  EXPECT_GT(tiled.pieces(), 1U);
  EXPECT_LE(tiled.pieces(), TiledRows::most_pieces);
  EXPECT_EQ(tiled.tiles(), 3U);
  for (std::size_t tile = 0; tile < tiled.tiles(); ++tile) {
    for (std::size_t piece = 0; piece < tiled.pieces(); ++piece) {
      tiled.for_each(tile, piece, [&](std::size_t row, std::span<const Entry> entries) {
        for (const Entry& entry : entries) {
          EXPECT_GE(entry.column, tiled.first_column(piece));
          EXPECT_LT(entry.column, tiled.first_column(piece + 1));
          sums[row] -= entry.value;
        }
      });
    }
  }
  for (const float sum : sums) EXPECT_EQ(sum, 0);
}

}  // namespace
}  // namespace seqtrain::baseline
