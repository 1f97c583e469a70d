#include <gtest/gtest.h>
#include <support/environment.hpp>

#include <seqtrain/core/environment.hpp>

namespace seqtrain {
namespace {

TEST(ProcessEnvironment, AnEmptyVariableCountsAsNotSet) {
  const tests::Environment set{"SEQTRAIN_TEST_SET", "value"};
  const tests::Environment empty{"SEQTRAIN_TEST_EMPTY", ""};
  const tests::Environment absent{"SEQTRAIN_TEST_ABSENT", {}};
  EXPECT_EQ(process_environment("SEQTRAIN_TEST_SET"), "value");
  EXPECT_EQ(process_environment("SEQTRAIN_TEST_EMPTY"), std::nullopt);
  EXPECT_EQ(process_environment("SEQTRAIN_TEST_ABSENT"), std::nullopt);
}

}  // namespace
}  // namespace seqtrain
