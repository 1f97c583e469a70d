#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/one_output.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::model {
namespace {

predict::OneOutput one_output(const std::string& members) {
  const auto document = json::Document::parse("{" + members + "}", "config.json");
  return one_output_in(document.root());
}

TEST(OneOutput, IsTheFunctionThatTheConfigurationNames) {
  using predict::OneOutput;
  EXPECT_EQ(one_output(""), OneOutput::sigmoid);
  EXPECT_EQ(one_output(R"("sentence_transformers": {"version": "5"})"), OneOutput::sigmoid);
  const std::string identity = R"("torch.nn.modules.linear.Identity")";
  const std::string sigmoid = R"("torch.nn.modules.activation.Sigmoid")";
  const std::string recent = R"("sentence_transformers": {"activation_fn": )";
  const std::string old = R"("sbert_ce_default_activation_function": )";
  EXPECT_EQ(one_output(recent + identity + "}"), OneOutput::identity);
  EXPECT_EQ(one_output(recent + sigmoid + "}"), OneOutput::sigmoid);
  EXPECT_EQ(one_output(old + identity), OneOutput::identity);
  EXPECT_EQ(one_output(old + identity + ", " + recent + sigmoid + "}"), OneOutput::sigmoid);
  EXPECT_EQ(one_output(recent + R"("mine.Function"})"), OneOutput::sigmoid);
}

TEST(OneOutput, RefusesOtherFunctionsOfTorch) {
  const auto refused = tests::refusal([] {
    one_output(R"("sbert_ce_default_activation_function": "torch.nn.modules.activation.Tanh")");
  });
  EXPECT_EQ(refused,
            "config.json: sbert_ce_default_activation_function: 'Tanh' is not supported; "
            "supported are Identity, Sigmoid");
}

}  // namespace
}  // namespace seqtrain::model
