#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/families/gte/config.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::model {
namespace {

/// Returns the rotary positions of a model whose heads have 64 numbers.
Rope rope_with(const std::string& members) {
  return read_gte_new_config(
             weights::ConfigFile::parse(
                 R"({"model_type": "new", "hidden_size": 128, "num_attention_heads": 2)" + members +
                 "}"))
      .rope;
}

TEST(GteNewConfig, ReadsRotaryPositionsOfOldFilesAndOfNewOnes) {
  EXPECT_EQ(rope_with(""), Rope{.base = 10'000});
  EXPECT_EQ(rope_with(R"(, "rope_theta": 500, "rope_scaling": null)"), Rope{.base = 500});
  const Rope published{
      .base = 160'000, .scaling = Rope::Scaling::linear, .factor = std::pow(8.0, 2.0 / 64)};
  EXPECT_EQ(rope_with(R"(, "rope_theta": 20000, "rope_scaling": {"type": "ntk", "factor": 8.0})"),
            published);
  EXPECT_EQ(rope_with(R"(, "rope_parameters": {"type": "ntk", "factor": 8.0, "rope_type": "ntk",
                          "rope_theta": 20000})"),
            published);
  EXPECT_EQ(rope_with(R"(, "rope_parameters": {"rope_type": "default", "rope_theta": 30000})"),
            Rope{.base = 30'000});
}

TEST(GteNewConfig, RefusesFactorsThatItsCodeDoesNotTake) {
  for (const char* factor : {"0.5", "0", "-1", "1e-320"}) {
    EXPECT_EQ(tests::problem_of([&] {
                (void)rope_with(R"(, "rope_scaling": {"type": "ntk", "factor": )" +
                                std::string{factor} + "}");
              }),
              "config.json: rope_scaling.factor: is below 1");
  }
}

}  // namespace
}  // namespace seqtrain::model
