#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/weights/write_torch_file.hpp>

#include "support/model_case.hpp"
#include "support/model_conformance.hpp"
#include "support/one_thread.hpp"

namespace seqtrain::model {
namespace {

using tests::ModelCase;

/// Compares with the results of transformers for every case in the folders.
class Transformers : public testing::TestWithParam<std::filesystem::path> {
 protected:
  tests::OneThread one_thread_;
  ModelCase case_{GetParam()};
  AnyClassifier model_ = load_classifier(GetParam(), {.dropout = 0});
};

TEST_P(Transformers, LogitsAreEqual) {
  const auto logits = model_.logits(case_.batch(0));
  const auto expected = case_.expected("logits");
  ASSERT_EQ(static_cast<std::size_t>(logits.size()), expected.size());
  double gap = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    gap = std::max(gap, std::abs(static_cast<double>(logits.data()[i] - expected[i])));
  }
  RecordProperty("gap", std::to_string(gap));
  EXPECT_LT(gap, 1e-4);
}

double norm(std::span<const float> numbers, std::span<const float> minus) {
  double sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sum += std::pow(static_cast<double>(numbers[i]) - static_cast<double>(minus[i]), 2);
  }
  return std::sqrt(sum);
}

/// Compares the norm of the difference with the gradient's. The bias of a key has no gradient
/// except rounding errors, because softmax does not depend on it.
TEST_P(Transformers, GradientsAreEqual) {
  const auto loss = static_cast<double>(model_.accumulate(case_.batch(0), 1));
  EXPECT_NEAR(loss, case_.expected("loss")[0], 1e-5);
  double gap = 0;
  for (const auto& parameter : model_.parameters()) {
    if (!parameter.gradient.defined()) {  // it never learns
      EXPECT_TRUE(parameter.name.ends_with("embed_positions.weight") ||
                  parameter.name.ends_with("inv_freq") ||
                  parameter.name.find("contact_head.") != parameter.name.npos)
          << parameter.name;
      continue;
    }
    const auto expected = case_.expected("gradient." + parameter.name);
    ASSERT_EQ(parameter.gradient.numel(), static_cast<std::int64_t>(expected.size()));
    const std::span actual{parameter.gradient.const_data_ptr<float>(), expected.size()};
    const double size = norm(expected, std::vector<float>(expected.size()));
    const double error = norm(actual, expected);
    if (size > 1e-5) gap = std::max(gap, error / size);  // else it is rounding
    EXPECT_LE(error, 1e-4 * size + 1e-6) << parameter.name;
  }
  RecordProperty("gap", std::to_string(gap));
  RecordProperty("by_hand", model_.has_kernels() ? "true" : "false");
}

TEST_P(Transformers, LossesOfFiftyStepsAreEqual) {
  optim::Adam optimizer{{.lr = case_.expected("lr")[0]}};
  std::int64_t step = 0;
  for (const float expected : case_.expected("losses")) {
    const auto loss = model_.accumulate(case_.batch(step % 2), 1);
    optimizer.step(model_.parameters(), {});
    EXPECT_NEAR(static_cast<double>(loss), expected, 1e-3) << "step " << step;
    ++step;
  }
  EXPECT_EQ(step, 50);
}

/// Writes files that tests/golden/model.py --check reads in Python.
TEST_P(Transformers, ReadWhatIsSaved) {
  const char* outside = std::getenv("SEQTRAIN_MODEL_CASES");
  if (outside == nullptr || case_.directory().parent_path() != outside) {
    GTEST_SKIP() << "lies in the tree, where tests write nothing";
  }
  const auto saved = case_.directory() / "saved";
  model_.save_pretrained(saved);
  weights::write_torch_file(saved / "model.pth", model_.state_dict().views());
}

std::string case_name(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.filename().string();
}
INSTANTIATE_TEST_SUITE_P(Cases, Transformers, testing::ValuesIn(tests::model_cases()), case_name);

TEST(AnyClassifier, IsOfTheFamilyThatTheConfigurationNames) {
  auto bert = load_classifier(tests::small_model("bert_relu").directory());
  auto roberta = load_classifier(tests::small_model("roberta_gelu_new").directory());
  EXPECT_EQ(bert.config().model_type, "bert");
  EXPECT_EQ(roberta.config().model_type, "roberta");
  EXPECT_EQ(bert.max_length(), 12);
  EXPECT_EQ(roberta.max_length(), 10);
}

struct SmallAny {
  static AnyClassifier make(double dropout, std::uint64_t seed) {
    return load_classifier(tests::small_model("bert_relu").directory(),
                           {.dropout = dropout, .seed = seed});
  }
  static data::Batch batch(std::int64_t index) {
    return tests::small_model("bert_relu").batch(index);
  }
};

}  // namespace
}  // namespace seqtrain::model

namespace seqtrain::tests {
INSTANTIATE_TYPED_TEST_SUITE_P(Any, ModelConformance, model::SmallAny);
}  // namespace seqtrain::tests
