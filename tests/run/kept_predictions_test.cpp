#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/run/kept_predictions.hpp>

#include "support/run_events.hpp"

namespace seqtrain::run {
namespace {

struct KeptPredictionsTest : testing::Test {
  void tell(KeptPredictions& kept, const std::vector<std::int64_t>& rows,
            const metrics::Logits& logits, const std::vector<std::int64_t>& labels,
            const std::vector<float>& targets = {}, const std::vector<double>& losses = {}) {
    kept.on(train::EvalPredictions{.split = "dev",
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

TEST_F(KeptPredictionsTest, PutsBatchesInTheOrderOfTheSet) {
  KeptPredictions kept;
  metrics::Logits one(2, 2), two(1, 2);
  one << 1, 2, 3, 4;
  two << 5, 6;
  for (int epoch = 1; epoch <= 2; ++epoch) {  // the second takes the place of the first
    kept.on(train::EvalBegin{"dev", epoch, 5});
    tell(kept, {2, 0}, one, {1, 0}, {}, {0.5, 0.25});
    tell(kept, {1}, two, {-1}, {}, {std::nan("")});
    kept.on(train::EvalEnd{"dev", epoch, 5, 1, report});
  }
  const Predictions* const predictions = kept.find("dev");
  ASSERT_NE(predictions, nullptr);
  EXPECT_EQ(kept.find("test"), nullptr);
  EXPECT_EQ(predictions->epoch, 2);
  EXPECT_EQ(predictions->rows, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(predictions->gold, (std::vector<std::int64_t>{0, -1, 1}));
  EXPECT_EQ(predictions->logits(0, 0), 3);
  EXPECT_EQ(predictions->logits(2, 1), 2);
  EXPECT_TRUE(std::isnan(predictions->loss(1)));
  EXPECT_EQ(predictions->loss(2), 0.5);
  EXPECT_EQ(predictions->gold_labels(2), std::vector<std::size_t>{1});
}

TEST_F(KeptPredictionsTest, KeepsTargets) {
  type = ProblemType::multi_label;
  KeptPredictions kept;
  metrics::Logits logits(2, 2);
  logits << 0, 0, 1, -1;
  kept.on(train::EvalBegin{"dev", 1, 5});
  tell(kept, {1, 0}, logits, {0, 0}, {1, 0, 1, 1});
  kept.on(train::EvalEnd{"dev", 1, 5, 1, report});
  const Predictions* const predictions = kept.find("dev");
  ASSERT_NE(predictions, nullptr);
  EXPECT_EQ(predictions->gold_labels(0), (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(std::isnan(predictions->loss(1))) << "the model tells no losses";
}

TEST_F(KeptPredictionsTest, KeepsNothingUnlessEnabledAndRowsAreKnown) {
  metrics::Logits logits(1, 2);
  logits << 0, 0;
  KeptPredictions off{false}, on;
  for (KeptPredictions* kept : {&off, &on}) {
    kept->on(train::EvalBegin{"dev", 1, 5});
    tell(*kept, kept == &off ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{}, logits,
         {0});
    kept->on(train::EvalEnd{"dev", 1, 5, 1, report});
    EXPECT_EQ(kept->find("dev"), nullptr);
  }
}

}  // namespace
}  // namespace seqtrain::run
