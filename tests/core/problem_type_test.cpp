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

}  // namespace
}  // namespace seqtrain
