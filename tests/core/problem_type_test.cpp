#include <cstddef>

#include <gtest/gtest.h>

#include <seqtrain/core/problem_type.hpp>

namespace seqtrain {
namespace {

TEST(ProblemType, HasTransformersNames) {
  EXPECT_EQ(name(ProblemType::single_label), "single_label_classification");
  EXPECT_EQ(name(ProblemType::regression), "regression");
  EXPECT_EQ(name(ProblemType::multi_label), "multi_label_classification");
}

TEST(ProblemType, IsFoundByItsName) {
  for (const auto type :
       {ProblemType::single_label, ProblemType::regression, ProblemType::multi_label}) {
    EXPECT_EQ(problem_type_named(name(type)), type);
  }
  EXPECT_FALSE(problem_type_named(""));
  EXPECT_FALSE(problem_type_named("Regression"));
  EXPECT_EQ(listed_problem_types(),
            "single_label_classification, regression, multi_label_classification");
}

TEST(ProblemType, AllowsOneLabelOrSeveral) {
  static_assert(allows_labels(ProblemType::regression, 1));
  for (const std::size_t count : {0u, 2u, 3u}) {
    EXPECT_EQ(allows_labels(ProblemType::regression, count), count > 0) << count;
    EXPECT_FALSE(allows_labels(ProblemType::loss_alone, count)) << count;
  }
  for (const auto type : {ProblemType::single_label, ProblemType::multi_label}) {
    for (const std::size_t count : {0u, 1u}) EXPECT_FALSE(allows_labels(type, count)) << count;
    for (const std::size_t count : {2u, 1000u}) EXPECT_TRUE(allows_labels(type, count)) << count;
  }
}

}  // namespace
}  // namespace seqtrain
