#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/train/find_learning_rate.hpp>

#include "support/fakes.hpp"

namespace seqtrain::train {
namespace {

std::vector<double> numbers(const json::Value& list) {
  std::vector<double> result;
  for (const auto& item : list.items()) result.push_back(item.number());
  return result;
}

TEST(FindLearningRate, HasTheCurveAndTheSuggestionOfFastai) {
  const auto document = json::Document::load(SEQTRAIN_TESTS_DIR "/golden/one_cycle.json");
  for (const auto& golden : document.root().at("range_tests").items()) {
    tests::FakeModel model;
    tests::FakeLoader loader{numbers(golden.at("batches")), 1};
    const auto steps = golden.at("steps").integer();
    const auto curve = find_learning_rate(model, tests::FakeSgd{0.5}, loader, {.steps = steps});
    const auto rates = numbers(golden.at("rates")), losses = numbers(golden.at("losses"));
    ASSERT_EQ(curve.points.size(), rates.size());
    for (std::size_t i = 0; i < rates.size(); ++i) {
      EXPECT_NEAR(curve.points[i].learning_rate, rates[i], 1e-12 * rates[i]);
      EXPECT_NEAR(curve.points[i].loss, losses[i], 1e-9 * losses[i]);
    }
    EXPECT_NEAR(curve.suggestion(), golden.at("suggestion").number(), 1e-12);
    EXPECT_EQ(model.weight(), golden.at("w").number());  // as it was
  }
}

TEST(FindLearningRate, RestoresTheModelOfAStoppedTest) {
  tests::FakeModel model;
  tests::FakeLoader loader{{1, 2}, 1};
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(
      (void)find_learning_rate(model, tests::FakeSgd{1}, loader, {.stop = source.get_token()}),
      Stopped);
  EXPECT_EQ(model.weight(), 0);
}

TEST(FindLearningRate, EndsWhereTheLossIsNotFinite) {
  tests::FakeModel model;
  tests::FakeLoader loader{{1, 1, 1, 1, std::numeric_limits<double>::infinity()}, 1};
  const auto curve = find_learning_rate(model, tests::FakeSgd{1}, loader);
  EXPECT_EQ(curve.points.size(), 4U);
  EXPECT_GT(curve.suggestion(), 0);
  EXPECT_THROW((void)LearningRateCurve{}.suggestion(), Error);
}

TEST(FindLearningRate, RefusesOptionsOutOfRange) {
  EXPECT_THROW(RangeTestOptions{.first = 0}.validate(), InputError);
  EXPECT_THROW(RangeTestOptions{.last = 1e-8}.validate(), InputError);
  EXPECT_THROW(RangeTestOptions{.steps = 5}.validate(), InputError);
}

}  // namespace
}  // namespace seqtrain::train
