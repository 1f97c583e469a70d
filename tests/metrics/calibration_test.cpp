#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/calibration.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

/// Logits and labels of the golden file.
struct Answered {
  Logits logits;
  std::vector<std::int64_t> labels;

  explicit Answered(const json::Value& golden) {
    const auto rows = golden.at("logits").items();
    logits.resize(static_cast<Eigen::Index>(rows.size()), 3);
    for (Eigen::Index row = 0; row < logits.rows(); ++row) {
      const auto line = rows[static_cast<std::size_t>(row)].items();
      for (std::size_t i = 0; i < 3; ++i) {
        logits(row, static_cast<Eigen::Index>(i)) = static_cast<float>(line[i].number());
      }
    }
    for (const auto& label : golden.at("labels").items()) labels.push_back(label.integer());
  }
};

TEST(Reliability, HasTheBinsAndTheErrorOfNumPy) {
  const auto document = json::Document::load(tests::golden() / "decisions.json");
  const auto golden = document.root().at("calibration");
  const Answered answered{golden};
  std::vector<double> confidence;
  std::vector<std::uint8_t> right;
  for (Eigen::Index row = 0; row < answered.logits.rows(); ++row) {
    const std::int64_t said = argmax(answered.logits.row(row));
    confidence.push_back(std::exp(-cross_entropy(answered.logits.row(row), said)));
    right.push_back(said == answered.labels[static_cast<std::size_t>(row)] ? 1 : 0);
  }
  const auto bins = reliability(confidence, right);
  const auto expected = golden.at("bins").items();
  ASSERT_EQ(bins.size(), expected.size());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    EXPECT_EQ(bins[i].examples, expected[i].items()[0].integer());
    EXPECT_NEAR(bins[i].confidence, expected[i].items()[1].number(), 1e-6);
    EXPECT_NEAR(bins[i].accuracy, expected[i].items()[2].number(), 1e-12);
  }
  EXPECT_NEAR(expected_calibration_error(bins), golden.at("error").number(), 1e-6);
}

TEST(Reliability, PutsEdgesIntoTheLowerBin) {
  const std::vector<double> confidence{0, 0.5, 1};
  const std::vector<std::uint8_t> right{0, 1, 1};
  const auto bins = reliability(confidence, right, 2);
  EXPECT_EQ(bins[0].examples, 2);
  EXPECT_EQ(bins[1].examples, 1);
  EXPECT_EQ(expected_calibration_error({}), 0);
}

TEST(Temperature, IsThatOfSciPy) {
  const auto document = json::Document::load(tests::golden() / "decisions.json");
  const auto golden = document.root().at("calibration");
  const Answered answered{golden};
  const double temperature = best_temperature(answered.logits, answered.labels);
  EXPECT_NEAR(temperature, golden.at("temperature").number(), 1e-5);
  EXPECT_NEAR(tempered_loss(answered.logits, answered.labels, temperature),
              golden.at("loss").number(), 1e-8);
}

TEST(Temperature, EndsWhereEveryAnswerIsRight) {
  Logits logits(2, 2);
  logits << 2, 0, 0, 2;
  const std::vector<std::int64_t> labels{0, 1};
  EXPECT_NEAR(best_temperature(logits, labels), 0.01, 0.05);
}

}  // namespace
}  // namespace seqtrain::metrics
