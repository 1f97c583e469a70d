#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/tensor/autocast.hpp>

#include "support/made_checkpoint.hpp"
#include "support/model_conformance.hpp"
#include "support/one_thread.hpp"

namespace seqtrain::model {
namespace {

using tests::MadeCheckpoint;

/// The backend of ATen's operators in both precisions, with equal weights.
class AutocastClassifier : public testing::TestWithParam<tests::MadeModel> {
 protected:
  [[nodiscard]] AnyClassifier load(ClassifierOptions options) const {
    options.seed = 3;
    return load_classifier(checkpoint_.path(), options);
  }

  /// Expects the loss and the gradients of a batch to differ from fp32's only by the rounding of
  /// factors.
  void expect_near_fp32(double dropout, bool freeze_encoder = false) const {
    const auto model = [&](Precision precision) {
      return load({.dropout = dropout,
                   .freeze_encoder = freeze_encoder,
                   .precision = precision,
                   .autograd = true});
    };
    auto narrow = model(Precision::bf16);
    auto wide = model(Precision::fp32);
    const auto batch = MadeCheckpoint::batch(0);
    const auto loss = static_cast<double>(narrow.accumulate(batch, 1));
    EXPECT_NEAR(loss, static_cast<double>(wide.accumulate(batch, 1)), 1e-2);
    for (std::size_t i = 0; i < narrow.parameters().size(); ++i) {
      const auto& parameter = narrow.parameters()[i];
      const at::Tensor& expected = wide.parameters()[i].gradient;
      ASSERT_EQ(parameter.gradient.defined(), expected.defined()) << parameter.name;
      if (!parameter.gradient.defined() || parameter.name.ends_with("key.bias"))
        continue;  // only rounding errors
      EXPECT_EQ(parameter.gradient.scalar_type(), at::kFloat) << parameter.name;
      const double norm = expected.norm().item<double>();
      EXPECT_LT(parameter.gradient.sub(expected).norm().item<double>(), 0.03 * norm)
          << parameter.name;
    }
  }

  tests::OneThread one_thread_;
  MadeCheckpoint checkpoint_{GetParam()};
};

/// Tells whether bfloat16 can hold all of these numbers.
bool fit_bfloat16(const metrics::Logits& logits) {
  return logits.unaryExpr([](float x) { return static_cast<float>(c10::BFloat16{x}); }) == logits;
}

TEST_P(AutocastClassifier, HasTheGradientsOfFp32) {
  expect_near_fp32(0);
}

TEST_P(AutocastClassifier, DropsOutWhatFp32Does) {
  expect_near_fp32(0.1);
}

TEST_P(AutocastClassifier, TrainsTheHeadOfAFrozenEncoder) {
  expect_near_fp32(0.1, true);
}

TEST_P(AutocastClassifier, ReachesOnlyPassesOnAtenInBf16) {
  const auto batch = MadeCheckpoint::batch(0);
  const auto fits = [&](Precision precision, bool autograd) {
    auto model = load({.precision = precision, .autograd = autograd});
    EXPECT_EQ(model.precision(), precision);
    (void)model.accumulate(batch, 1);
    EXPECT_FALSE(at::autocast::is_autocast_enabled(c10::kCPU));
    return fit_bfloat16(model.logits(batch));
  };
  EXPECT_TRUE(fits(Precision::bf16, true));
  EXPECT_FALSE(fits(Precision::fp32, true));
  EXPECT_FALSE(fits(Precision::bf16, false));  // the head of an encoder with kernels is fp32
}

TEST_P(AutocastClassifier, TakesAutoForWhatTheProcessorHas) {
  for (const bool autograd : {false, true}) {
    const auto model = load({.precision = Precision::automatic, .autograd = autograd});
    EXPECT_EQ(model.precision(), has_native_bf16() ? Precision::bf16 : Precision::fp32);
  }
}

/// Both configure the tiles of processors with AMX.
TEST(Autocast, TakesTurnsWithTheKernels) {
  const std::vector<kernels::Bf16> a(64 * 64), b(64 * 64);
  std::vector<float> c(64 * 64);
  for (int turn = 0; turn < 3; ++turn) {
    {
      const cpu::TileGuard tiles;
      cpu::multiply_panel(64, 64, a.data(), 64, b.data(), c.data(), 64, false);
    }
    const tensor::Autocast narrow{c10::kCPU};
    const at::Tensor x = at::ones({64, 64});
    EXPECT_EQ(at::linear(x, x).max().item<float>(), 64);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AutocastClassifier,
                         testing::Values(tests::MadeModel{},
                                         tests::MadeModel{"roberta", "gelu_new", 2, 64, 4, 128}),
                         [](const auto& given) { return given.param.family; });

struct Autocasting {
  static AnyClassifier make(double dropout, std::uint64_t seed) {
    static const MadeCheckpoint checkpoint;
    return load_classifier(
        checkpoint.path(),
        {.dropout = dropout, .seed = seed, .precision = Precision::bf16, .autograd = true});
  }
  static data::Batch batch(std::int64_t index) { return MadeCheckpoint::batch(index); }
};

}  // namespace
}  // namespace seqtrain::model

namespace seqtrain::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(Autocast, ModelConformance, model::Autocasting);

}  // namespace seqtrain::tests
