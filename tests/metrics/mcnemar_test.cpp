#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/mcnemar.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::metrics {
namespace {

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
