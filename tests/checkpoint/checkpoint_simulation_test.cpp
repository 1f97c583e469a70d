#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/checkpoints.hpp>

#include "support/checkpoint_history.hpp"
#include "support/history_runner.hpp"

namespace seqtrain::tests {
namespace {

/// Returns a number from the environment.
std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// `make check` runs 8,000 histories, `make chaos` a million.
constexpr std::uint64_t usual_count = 300;

/// Runs random histories of killed, stopped, failing and replaced runs. A failing history is shrunk
/// and printed; SEQTRAIN_HISTORY_SEED runs it alone.
TEST(CheckpointSimulation, EveryHistoryEndsWell) {
  const std::uint64_t alone = number("SEQTRAIN_HISTORY_SEED", 0);
  const std::uint64_t count = alone > 0 ? 1 : number("SEQTRAIN_SIMULATED_HISTORIES", usual_count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const History history = make_history(alone > 0 ? alone : i + 1);
    const std::string problem = HistoryRunner::run(history);
    if (problem.empty()) continue;
    const History small =
        shrink(history, [](const History& one) { return !HistoryRunner::run(one).empty(); });
    FAIL() << "history " << i + 1 << ": " << problem << "\nshrunk: " << HistoryRunner::run(small)
           << "\n"
           << describe(small);
  }
}

TEST(CheckpointSimulation, ASeedGivesTheSameHistoryAgain) {
  EXPECT_EQ(describe(make_history(7)), describe(make_history(7)));
  EXPECT_NE(describe(make_history(7)), describe(make_history(8)));
}

TEST(CheckpointSimulation, ShrinksToWhatMatters) {
  History history = make_history(11);
  history.executions.resize(4);
  history.executions[2].kill_at = 17;
  const History small = shrink(history, [](const History& one) {
    for (const auto& execution : one.executions) {
      if (execution.kill_at == 17) return true;
    }
    return false;
  });
  ASSERT_EQ(small.executions.size(), 1U);
  EXPECT_EQ(small.executions[0], (Execution{.kill_at = 17}));
}

}  // namespace
}  // namespace seqtrain::tests
