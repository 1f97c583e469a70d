#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/bootstrap.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

json::Document golden_decisions() {
  return json::Document::load(tests::golden() / "decisions.json");
}

/// Expects an interval of scikit-learn's figures. If all resamples have one figure, the interval is
/// Wilson's and contains it.
void expect_interval(const Interval& interval, const json::Value& expected) {
  const double low = expected.items()[0].number();
  const double high = expected.items()[1].number();
  if (low == high) {
    EXPECT_LE(interval.low, low + 1e-12);
    EXPECT_GE(interval.high, high - 1e-12);
  } else {
    EXPECT_NEAR(interval.low, low, 1e-12);
    EXPECT_NEAR(interval.high, high, 1e-12);
  }
}

void expect_intervals(const Decisions& decisions, const json::Value& golden) {
  const auto made = bootstrap(decisions, {.seed = 42, .resamples = 50});
  expect_interval(made.accuracy, golden.at("accuracy"));
  expect_interval(made.macro_f1, golden.at("macro_f1"));
  const auto labels = golden.at("labels").items();
  ASSERT_EQ(made.labels.size(), labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    expect_interval(made.labels[i].precision, labels[i].items()[0]);
    expect_interval(made.labels[i].recall, labels[i].items()[1]);
    expect_interval(made.labels[i].f1, labels[i].items()[2]);
  }
}

TEST(Bootstrap, HasTheIntervalsOfScikitLearnOnTheSameResamples) {
  const auto document = golden_decisions();
  for (const auto& [name, labels] : {std::pair{"single", 3}, {"rare", 5}}) {
    SCOPED_TRACE(name);
    const auto golden = document.root().at(name);
    const auto gold = golden.at("gold").items();
    const auto said = golden.at("said").items();
    Decisions decisions{static_cast<std::size_t>(labels)};
    for (std::size_t i = 0; i < gold.size(); ++i) {
      const auto is = static_cast<Decisions::Label>(gold[i].integer());
      const auto was = static_cast<Decisions::Label>(said[i].integer());
      decisions.add({&is, 1}, {&was, 1});
    }
    expect_intervals(decisions, golden);
  }
}

TEST(Bootstrap, HasThoseOfSeveralLabelsAnExample) {
  const auto document = golden_decisions();
  const auto golden = document.root().at("multi");
  const auto set = [](const json::Value& row) {
    std::vector<Decisions::Label> labels;
    for (Decisions::Label label = 0; const auto& is : row.items()) {
      if (is.integer() == 1) labels.push_back(label);
      ++label;
    }
    return labels;
  };
  Decisions decisions{3, ProblemType::multi_label};
  const auto gold = golden.at("gold").items();
  const auto said = golden.at("said").items();
  for (std::size_t i = 0; i < gold.size(); ++i) decisions.add(set(gold[i]), set(said[i]));
  expect_intervals(decisions, golden);
}

TEST(Bootstrap, OfNoExamplesIsZero) {
  const auto made = bootstrap(Decisions{2});
  EXPECT_EQ(made.labels.size(), 2U);
  EXPECT_EQ(made.accuracy.high, 0);
}

TEST(Bootstrap, TakesFewerResamplesOfManyExamples) {
  EXPECT_EQ(BootstrapOptions::for_examples(0).resamples, 1000U);
  EXPECT_EQ(BootstrapOptions::for_examples(25'000).resamples, 800U);
  EXPECT_EQ(BootstrapOptions::for_examples(10'000'000).resamples, 100U);
}

TEST(Quantile, IsThatOfNumPy) {
  const auto document = golden_decisions();
  const auto golden = document.root().at("quantiles");
  std::vector<double> numbers;
  for (const auto& number : golden.at("numbers").items()) numbers.push_back(number.number());
  const auto shares = golden.at("shares").items();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_NEAR(quantile(numbers, shares[i].number()), golden.at("values").items()[i].number(),
                1e-15);
  }
}

// The bounds are those of scipy.stats.binomtest(hits, count).proportion_ci(method="wilson").
TEST(Wilson, HasTheBoundsOfSciPy) {
  EXPECT_NEAR(wilson_95(20, 20).low, 0.8388748419471808, 1e-12);
  EXPECT_EQ(wilson_95(20, 20).high, 1);
  EXPECT_EQ(wilson_95(0, 10).low, 0);
  EXPECT_NEAR(wilson_95(0, 10).high, 0.27753279986288926, 1e-12);
  EXPECT_NEAR(wilson_95(3, 7).low, 0.1582198552514697, 1e-12);
  EXPECT_NEAR(wilson_95(3, 7).high, 0.7495416354723428, 1e-12);
}

TEST(Bootstrap, TakesWilsonsIntervalsIfAllResamplesAreEqual) {
  Decisions decisions{2};
  for (Decisions::Label i = 0; i < 20; ++i) {
    const Decisions::Label label = i % 2;
    decisions.add({&label, 1}, {&label, 1});
  }
  const auto made = bootstrap(decisions);
  EXPECT_NEAR(made.accuracy.low, 0.8388748419471808, 1e-12);
  EXPECT_EQ(made.accuracy.high, 1);
  EXPECT_EQ(made.macro_f1.low, made.accuracy.low);
  EXPECT_EQ(made.macro_f1.high, 1);
  const double of_ten = wilson_95(10, 10).low;
  EXPECT_EQ(made.labels[0].precision.low, of_ten);
  EXPECT_EQ(made.labels[0].recall.low, of_ten);
  EXPECT_NEAR(made.labels[0].f1.low, 2 * of_ten / (1 + of_ten), 1e-12);
}

TEST(McNemar, HasTheProbabilitiesOfSciPy) {
  const auto document = json::Document::load(tests::golden() / "decisions.json");
  for (const auto& row : document.root().at("mcnemar").items()) {
    const auto golden = row.items();
    const double expected = golden[2].number();
    EXPECT_NEAR(mcnemar_p(golden[0].integer(), golden[1].integer()), expected, 1e-10 * expected);
  }
}

TEST(McNemar, CountsExamplesThatOneGotRight) {
  const std::vector<std::uint8_t> first{1, 1, 0, 0, 1};
  const std::vector<std::uint8_t> second{1, 0, 1, 0, 0};
  const auto test = mcnemar(first, second);
  EXPECT_EQ(test.first_only, 2);
  EXPECT_EQ(test.second_only, 1);
  EXPECT_EQ(test.p, 1);
  EXPECT_THROW((void)mcnemar(first, std::vector<std::uint8_t>{1}), Error);
}

}  // namespace
}  // namespace seqtrain::metrics
