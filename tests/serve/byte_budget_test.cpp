#include <gtest/gtest.h>

#include <seqtrain/serve/byte_budget.hpp>

namespace seqtrain::serve {
namespace {

TEST(ByteBudget, RefusesMoreThanItHas) {
  ByteBudget budget{100};
  ByteBudget::Share first{&budget};
  EXPECT_TRUE(first.try_set(60));
  {
    ByteBudget::Share second{&budget};
    EXPECT_FALSE(second.try_set(41));
    EXPECT_EQ(budget.held(), 60u);
    EXPECT_TRUE(second.try_set(40));
    EXPECT_TRUE(budget.is_full());
    EXPECT_TRUE(second.try_set(10));
    EXPECT_TRUE(first.try_set(90));
    EXPECT_FALSE(first.try_set(91));
  }
  EXPECT_EQ(budget.held(), 90u);
}

TEST(ByteBudget, CountsWhatMayNotBeRefused) {
  ByteBudget budget{100};
  ByteBudget::Share answer{&budget};
  answer.set(500);
  EXPECT_TRUE(budget.is_full());
  ByteBudget::Share body{&budget};
  EXPECT_FALSE(body.try_set(1));
  answer.set(20);
  EXPECT_TRUE(body.try_set(1));
  EXPECT_EQ(budget.take_peak(), 500u);
  EXPECT_EQ(budget.take_peak(), 21u);
}

TEST(ByteBudget, AShareWithoutABudgetIsFree) {
  ByteBudget::Share share{nullptr};
  EXPECT_TRUE(share.try_set(1'000'000));
}

}  // namespace
}  // namespace seqtrain::serve
