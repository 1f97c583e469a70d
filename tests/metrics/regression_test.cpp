#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/regression.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

using Figures = std::vector<double>;

Figures figures_in(const json::Value& value) {
  Figures figures;
  for (const auto& item : value.items()) figures.push_back(item.number());
  return figures;
}

TEST(Correlation, EqualsSciPy) {
  const auto golden = json::Document::load(tests::golden() / "metrics.json");
  for (const auto& given : golden.root().at("correlations").items()) {
    const Figures x = figures_in(given.at("x"));
    const Figures y = figures_in(given.at("y"));
    EXPECT_NEAR(pearson(x, y), given.at("pearson").number(), 1e-12);
    EXPECT_NEAR(spearman(x, y), given.at("spearman").number(), 1e-12);
  }
}

TEST(Correlation, RanksShareTheirMean) {
  EXPECT_EQ(ranks(Figures{3, 1, 3, -2, 3}), (Figures{4, 2, 4, 1, 4}));
  EXPECT_EQ(ranks(Figures{}), Figures{});
}

TEST(Correlation, IsNoNumberWhereThereIsNone) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(pearson(Figures{1, 1}, Figures{1, 2})));
  EXPECT_TRUE(std::isnan(spearman(Figures{1, 2, 3}, Figures{4, 4, 4})));
  EXPECT_TRUE(std::isnan(pearson(Figures{}, Figures{})));
  EXPECT_TRUE(std::isnan(pearson(Figures{1, none}, Figures{1, 2})));
  EXPECT_TRUE(std::isnan(spearman(Figures{none, 1, 2}, Figures{1, 2, 3})));
  EXPECT_THROW((void)pearson(Figures{1}, Figures{1, 2}), Error);
}

}  // namespace
}  // namespace seqtrain::metrics
