#include <functional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/log/log.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/train/events.hpp>

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
  log::Log log{{.out = &out}};
};

TEST_F(ConsoleTest, WritesTheLine) {
  Console console{{.every = 147}, log};
  for (int batch = 1; batch <= 293; ++batch) console.on(tests::step(batch, 293, loss));
  EXPECT_EQ(out.str(),
            "Progress:   0% - Batch:    1/293  - Loss: 0.5931\n"
            "Progress:  50% - Batch:  147/293  - Loss: 0.5931\n"
            "Progress: 100% - Batch:  293/293  - Loss: 0.5931\n");
}

TEST_F(ConsoleTest, WidensForManyBatches) {
  Console console{{}, log};
  console.on(tests::step(50, 24544, loss));
  EXPECT_EQ(out.str(), "Progress:   0% - Batch:    50/24544 - Loss: 0.5931\n");
}

TEST_F(ConsoleTest, AsksForLossesOnlyWhereItPrints) {
  Console console{{.every = 10}, log};
  for (int batch = 1; batch <= 8; ++batch) console.on(tests::step(batch, 25, loss));
  EXPECT_EQ(losses_read, 1);
  console.on(tests::step(9, 25, loss));
  EXPECT_EQ(losses_read, 9);
}

TEST_F(ConsoleTest, TellsTheMeanLossSinceTheLastLine) {
  Console console{{.every = 2}, log};
  for (int batch = 1; batch <= 4; ++batch) {
    console.on(tests::step(batch, 4, [batch] { return static_cast<double>(batch); }));
  }
  EXPECT_EQ(out.str(),
            "Progress:  25% - Batch:    1/4    - Loss: 1.0000\n"
            "Progress:  50% - Batch:    2/4    - Loss: 2.0000\n"
            "Progress: 100% - Batch:    4/4    - Loss: 3.5000\n");
}

TEST_F(ConsoleTest, TellsAccuracies) {
  Console console{{}, log};
  const auto report = tests::some_report();
  console.on(train::EvalBegin{"dev", 2, 586});
  EXPECT_EQ(out.str(), "Starting evaluation...\n");
  out.str("");
  console.on(train::EvalEnd{"dev", 2, 586, 12.34, report});
  EXPECT_EQ(out.str(),
            "Done evaluation\n"
            "Dev accuracy after epoch 2: 0.7500\n"
            "Dev loss after epoch 2: 0.5633 (8 examples, 12.3 s)\n");
  out.str("");
  console.on(train::EvalEnd{"test", 2, 586, 12.34, report});
  EXPECT_NE(out.str().find("\nTest accuracy after epoch 2: 0.7500\n"), std::string::npos);
}

TEST_F(ConsoleTest, TellsAUsersMetrics) {
  Console console{{}, log};
  auto report = tests::some_report();
  report.figures = {{"matthews", 0.5}, {"own", -1.25}};
  console.on(train::EvalEnd{"dev", 2, 586, 12.34, report});
  EXPECT_TRUE(out.str().ends_with(
      "\nDev loss after epoch 2: 0.5633 - matthews: 0.5000 - own: -1.2500 (8 examples, 12.3 s)\n"))
      << out.str();
}

TEST_F(ConsoleTest, TellsAUsersMetricWhoseNameEndsLikeThatOfATarget) {
  Console console{{}, log};
  auto report = tests::some_report_of_regression();
  report.targets = {"joy", "fear"};
  report.figures = {{"joy_pearson", 0.5}, {"masked_pearson", 0.25}};
  console.on(train::EvalEnd{"dev", 2, 586, 12.34, report});
  EXPECT_NE(out.str().find(": 0.5000 - masked_pearson: 0.2500 ("), std::string::npos) << out.str();
}

TEST_F(ConsoleTest, TellsNoAccuracyOfRegression) {
  Console console{{}, log};
  const auto report = tests::some_report_of_regression();
  console.on(train::EvalEnd{"dev", 2, 586, 12.34, report});
  EXPECT_EQ(out.str(),
            "Done evaluation\n"
            "Dev loss after epoch 2: 0.5000 - mean_squared_error: 0.5000 - pearson: 1.0000 - "
            "spearman: 1.0000 (4 examples, 12.3 s)\n");
}

TEST_F(ConsoleTest, GivesTheLogFieldsAndSeverities) {
  log.set_format(log::LogFormat::json);
  Console console{{}, log};
  auto report = tests::some_report();
  report.loss = 0.5;
  report.figures = {{"matthews", 0.25}};
  console.on(tests::step(1, 293, loss));
  console.on(train::StepSkipped{.step = 7, .skipped = 2, .problem = "not finite"});
  console.on(train::Notice{.text = "checkpoint-7 could not be saved", .warning = true});
  console.on(train::EvalEnd{"dev", 2, 586, 12.5, report});
  for (const char* part :
       {R"("step":1,"epoch":1,"loss":0.59306,"gradient_norm":1.5,"learning_rate":2e-05})",
        R"("severity":"WARNING","message":"Skipped (2 so far): not finite")",
        R"("severity":"WARNING","message":"checkpoint-7 could not be saved")",
        R"("split":"dev","epoch":2,"step":586,"accuracy":0.75})",
        R"("split":"dev","epoch":2,"step":586,"accuracy":0.75,"loss":0.5,"matthews":0.25,)"
        R"("examples":8,"seconds":12.5})"}) {
    EXPECT_NE(out.str().find(part), std::string::npos) << part << "\n" << out.str();
  }
}

}  // namespace
}  // namespace seqtrain::report
