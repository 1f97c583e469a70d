#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/matthews.hpp>
#include <seqtrain/metrics/metric.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

static_assert(Metric<Matthews>);

Confusion confusion_in(const json::Value& value) {
  const auto rows = value.items();
  Confusion confusion(rows.size(), rows.size());
  for (Eigen::Index i = 0; i < confusion.rows(); ++i) {
    const auto row = rows[static_cast<std::size_t>(i)].items();
    for (Eigen::Index j = 0; j < confusion.cols(); ++j) {
      confusion(i, j) = row[static_cast<std::size_t>(j)].integer();
    }
  }
  return confusion;
}

TEST(Matthews, EqualsScikitLearn) {
  const auto golden = json::Document::load(tests::golden() / "metrics.json");
  for (const auto& given : golden.root().at("cases").items()) {
    EXPECT_NEAR(matthews_correlation(confusion_in(given.at("confusion"))),
                given.at("matthews").number(), 1e-12)
        << given.at("name").string();
  }
}

TEST(Matthews, IsZeroWithoutExamples) {
  EXPECT_EQ(Matthews{}.value(), 0);
}

TEST(Matthews, CountsPartsAndMergesThem) {
  Logits logits(4, 2);
  logits << 1, 0, 1, 0, 0, 1, 0, 1;
  const std::vector<std::int64_t> labels{0, 1, 1, 1};
  Matthews whole, first, second;
  whole.add(logits, labels);
  EXPECT_NEAR(whole.value(), 2 / std::sqrt(2.0 * 2 * 1 * 3), 1e-12);
  first.add(logits.topRows(1), std::vector<std::int64_t>{0});
  second.add(logits.bottomRows(3), std::vector<std::int64_t>{1, 1, 1});
  first.merge(second);
  EXPECT_EQ(first.value(), whole.value());
  EXPECT_EQ(figure(whole).name, "matthews_correlation");
  EXPECT_EQ(figure(whole).value, whole.value());
}

}  // namespace
}  // namespace seqtrain::metrics
