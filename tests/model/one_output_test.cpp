#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/one_output.hpp>

#include "support/corrupt.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

using predict::OneOutput;

OneOutput one_output(const std::string& config, const std::string& own_file = "") {
  const tests::TemporaryDirectory directory;
  tests::write_file(directory / "config.json", "{" + config + "}");
  if (!own_file.empty()) {
    tests::write_file(directory / "config_sentence_transformers.json", "{" + own_file + "}");
  }
  return one_output_of(directory.path());
}

class OneOutputTest : public testing::Test {
 protected:
  const std::string identity = R"("torch.nn.modules.linear.Identity")";
  const std::string sigmoid = R"("torch.nn.modules.activation.Sigmoid")";
  const std::string inside = R"("sentence_transformers": {"activation_fn": )";
  const std::string old = R"("sbert_ce_default_activation_function": )";
  const std::string recent = R"("activation_fn": )";
};

TEST_F(OneOutputTest, IsASigmoidByDefault) {
  EXPECT_EQ(one_output(""), OneOutput::sigmoid);
  EXPECT_EQ(one_output(R"("sentence_transformers": {"version": "5"})", R"("prompts": {})"),
            OneOutput::sigmoid);
  EXPECT_EQ(one_output(inside + R"("mine.Function"})"), OneOutput::sigmoid);
}

TEST_F(OneOutputTest, IsTheFunctionThatTheModelNames) {
  EXPECT_EQ(one_output(inside + identity + "}"), OneOutput::identity);
  EXPECT_EQ(one_output(old + identity), OneOutput::identity);
  EXPECT_EQ(one_output("", recent + identity), OneOutput::identity);
}

TEST_F(OneOutputTest, IsThatOfTheNewestPlace) {
  EXPECT_EQ(one_output(old + identity + ", " + inside + sigmoid + "}"), OneOutput::sigmoid);
  EXPECT_EQ(one_output(inside + sigmoid + "}", recent + identity), OneOutput::identity);
}

TEST_F(OneOutputTest, RefusesOtherFunctionsOfTorch) {
  const auto refused = tests::refusal([&] { one_output(old + R"("torch.nn.Tanh")"); });
  EXPECT_NE(refused.find("config.json: sbert_ce_default_activation_function: 'Tanh' is not "
                         "supported; supported are Identity, Sigmoid"),
            std::string::npos)
      << refused;
}

}  // namespace
}  // namespace seqtrain::model
