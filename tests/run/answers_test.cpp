#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/run/answers.hpp>

#include "support/run_events.hpp"

namespace seqtrain::run {
namespace {

struct AnswerKeeperTest : testing::Test {
  void tell(AnswerKeeper& keeper, const std::vector<std::int64_t>& rows,
            const metrics::Logits& logits, const std::vector<std::int64_t>& labels,
            const std::vector<float>& targets = {}, const std::vector<double>& losses = {}) {
    keeper.on(train::EvalAnswers{.split = "dev",
                                 .problem_type = type,
                                 .logits = logits,
                                 .labels = labels,
                                 .targets = targets,
                                 .row_ids = rows,
                                 .losses = losses});
  }

  ProblemType type = ProblemType::single_label;
  const metrics::ClassificationReport report = tests::some_report();
};

TEST_F(AnswerKeeperTest, PutsBatchesInTheOrderOfTheSet) {
  AnswerKeeper keeper;
  metrics::Logits one(2, 2), two(1, 2);
  one << 1, 2, 3, 4;
  two << 5, 6;
  for (int epoch = 1; epoch <= 2; ++epoch) {  // the second takes the place of the first
    keeper.on(train::EvalBegin{"dev", epoch, 5});
    tell(keeper, {2, 0}, one, {1, 0}, {}, {0.5, 0.25});
    tell(keeper, {1}, two, {-1}, {}, {std::nan("")});
    keeper.on(train::EvalEnd{"dev", epoch, 5, 1, report});
  }
  const Answers* const answers = keeper.find("dev");
  ASSERT_NE(answers, nullptr);
  EXPECT_EQ(keeper.find("test"), nullptr);
  EXPECT_EQ(answers->epoch, 2);
  EXPECT_EQ(answers->rows, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(answers->gold, (std::vector<std::int64_t>{0, -1, 1}));
  EXPECT_EQ(answers->logits(0, 0), 3);
  EXPECT_EQ(answers->logits(2, 1), 2);
  EXPECT_TRUE(std::isnan(answers->loss(1)));
  EXPECT_EQ(answers->loss(2), 0.5);
  EXPECT_EQ(answers->gold_labels(2), std::vector<std::size_t>{1});
}

TEST_F(AnswerKeeperTest, KeepsTargets) {
  type = ProblemType::multi_label;
  AnswerKeeper keeper;
  metrics::Logits logits(2, 2);
  logits << 0, 0, 1, -1;
  keeper.on(train::EvalBegin{"dev", 1, 5});
  tell(keeper, {1, 0}, logits, {0, 0}, {1, 0, 1, 1});
  keeper.on(train::EvalEnd{"dev", 1, 5, 1, report});
  const Answers* const answers = keeper.find("dev");
  ASSERT_NE(answers, nullptr);
  EXPECT_EQ(answers->gold_labels(0), (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(std::isnan(answers->loss(1))) << "the model tells no losses";
}

TEST_F(AnswerKeeperTest, KeepsNothingUnlessEnabledAndRowsAreKnown) {
  metrics::Logits logits(1, 2);
  logits << 0, 0;
  AnswerKeeper off{false}, on;
  for (AnswerKeeper* keeper : {&off, &on}) {
    keeper->on(train::EvalBegin{"dev", 1, 5});
    tell(*keeper, keeper == &off ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{},
         logits, {0});
    keeper->on(train::EvalEnd{"dev", 1, 5, 1, report});
    EXPECT_EQ(keeper->find("dev"), nullptr);
  }
}

}  // namespace
}  // namespace seqtrain::run
