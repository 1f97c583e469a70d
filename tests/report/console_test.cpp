#include <functional>
#include <sstream>

#include <gtest/gtest.h>

#include <seqtrain/report/console.hpp>
#include <seqtrain/train/observe.hpp>

#include "support/run_events.hpp"

namespace seqtrain::report {
namespace {

static_assert(train::Observer<Console>);

struct ConsoleTest : testing::Test {
  int losses_read = 0;
  std::function<double()> loss = [this] {
    ++losses_read;
    return 0.59306;
  };
  std::ostringstream out;
};

TEST_F(ConsoleTest, WritesTheLine) {
  Console console{{.every = 123}, out};
  console.on(tests::step(1, 293, loss));
  console.on(tests::step(122, 293, loss));
  console.on(tests::step(123, 293, loss));
  console.on(tests::step(293, 293, loss));
  EXPECT_EQ(out.str(),
            "Progress:   0% - Batch:    1/293  - Loss: 0.5931\n"
            "Progress:  42% - Batch:  123/293  - Loss: 0.5931\n"
            "Progress: 100% - Batch:  293/293  - Loss: 0.5931\n");
}

TEST_F(ConsoleTest, WidensForManyBatches) {
  Console console{{}, out};
  console.on(tests::step(50, 24544, loss));
  EXPECT_EQ(out.str(), "Progress:   0% - Batch:    50/24544 - Loss: 0.5931\n");
}

TEST_F(ConsoleTest, AsksForTheLossOnlyWhereItPrints) {
  Console console{{.every = 10}, out};
  for (int batch = 1; batch <= 25; ++batch) console.on(tests::step(batch, 25, loss));
  EXPECT_EQ(losses_read, 4);  // 1, 10, 20, 25
}

TEST_F(ConsoleTest, TellsAccuracies) {
  Console console{{}, out};
  const auto report = tests::some_report();
  console.on(train::EvalEnd{"dev", 2, 586, 12.34, report});
  EXPECT_EQ(out.str(), "Epoch 2 - dev accuracy: 0.7500 - loss: 0.5633 (8 examples, 12.3 s)\n");
}

TEST_F(ConsoleTest, TellsAUsersMetrics) {
  Console console{{}, out};
  auto report = tests::some_report();
  report.figures = {{"matthews", 0.5}, {"own", -1.25}};
  console.on(train::EvalEnd{"dev", 2, 586, 12.34, report});
  EXPECT_EQ(out.str(),
            "Epoch 2 - dev accuracy: 0.7500 - loss: 0.5633 - matthews: 0.5000 - own: -1.2500 "
            "(8 examples, 12.3 s)\n");
}

TEST_F(ConsoleTest, TellsNoAccuracyOfRegression) {
  Console console{{}, out};
  const auto report = tests::some_report_of_regression();
  console.on(train::EvalEnd{"dev", 2, 586, 12.34, report});
  EXPECT_EQ(out.str(),
            "Epoch 2 - dev loss: 0.5000 - mean_squared_error: 0.5000 - pearson: 1.0000 - spearman: "
            "1.0000 (4 examples, 12.3 s)\n");
}

TEST_F(ConsoleTest, WipesABarOnATerminal) {
  Console console{{.terminal = true}, out};
  console.on(tests::step(1, 1, loss));
  EXPECT_TRUE(out.str().starts_with("\r\x1b[KProgress: 100%")) << out.str();
}

}  // namespace
}  // namespace seqtrain::report
