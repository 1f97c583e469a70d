#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::model {
namespace {

TEST(Precision, IsKnownByItsName) {
  for (const auto precision :
       {Precision::fp32, Precision::bf16, Precision::fp16, Precision::int8, Precision::automatic}) {
    EXPECT_EQ(precision_named(name(precision)), precision);
  }
  EXPECT_THROW((void)precision_named("fp8"), InputError);
  EXPECT_EQ(dtype_name(Precision::fp16), "float16");
}

TEST(Precision, Fp16IsNotForProcessors) {
  const auto problem =
      tests::problem_of([] { (void)resolve(Precision::fp16, c10::Device{c10::kCPU}); });
  EXPECT_EQ(problem,
            "precision: fp16 is for GPUs, and this device is a processor; use fp32, bf16 or auto");
  EXPECT_EQ(resolve(Precision::fp16, c10::Device{c10::kMeta}), Precision::fp16);
}

TEST(Precision, IsChosenByWhatTheDeviceHas) {
  const c10::Device processor{c10::kCPU};
  const auto best = has_native_bf16() ? Precision::bf16 : Precision::fp32;
  EXPECT_EQ(resolve(Precision::automatic, processor), best);
  EXPECT_EQ(resolve(Precision::automatic, c10::Device{c10::kMeta}), Precision::fp32);
  for (const auto precision : {Precision::fp32, Precision::bf16, Precision::int8}) {
    EXPECT_EQ(resolve(precision, processor), precision);
  }
}

TEST(Precision, Int8IsForPredictionsOnly) {
  const ClassifierOptions training{.precision = Precision::int8};
  EXPECT_THROW(training.validate(), InputError);
  const ClassifierOptions predicting{.precision = Precision::int8, .only_predicts = true};
  EXPECT_NO_THROW(predicting.validate());
}

/// The default checkpoint in both precisions, without dropout, on the bundled pairs.
class Bf16 : public testing::Test {
 protected:
  static constexpr int steps = 50;

  void SetUp() override {
    const std::filesystem::path root = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "..";
    checkpoint_ = root / "checkpoints/all-MiniLM-L6-v2";
    if (!exists(checkpoint_)) GTEST_SKIP() << "the default checkpoint is not there";
    const auto tokenizer = text::load_tokenizer(checkpoint_);
    data::BucketLoader loader{data::encode_file(root / "examples/data/nli/train.jsonl", tokenizer,
                                                data::Labels::nli(), {.encode = {.max_length = 64}})
                                  .set,
                              {.plan = {.batch_size = 4}, .seed = 1}};
    for (const data::Batch& batch : loader.epoch(0)) {
      batches_.push_back(batch);
      if (batches_.size() == steps) break;
    }
  }

  [[nodiscard]] AnyClassifier load(Precision precision) const {
    return load_classifier(
        checkpoint_,
        {.labels = data::Labels::nli().names(), .dropout = 0, .seed = 1, .precision = precision});
  }

  /// Returns the largest norm of a difference to the expected tensor, relative to the tensor's
  /// norm.
  template <class Tensor>
  static double largest_gap(const AnyClassifier& model, const AnyClassifier& expected,
                            const Tensor& tensor) {
    double gap = 0;
    for (std::size_t i = 0; i < model.parameters().size(); ++i) {
      const auto& parameter = model.parameters()[i];
      if (parameter.name.ends_with("key.bias")) continue;  // no gradient but rounding
      const at::Tensor wanted = tensor(expected.parameters()[i]);
      const double norm = wanted.norm().template item<double>();
      gap = std::max(gap, tensor(parameter).sub(wanted).norm().template item<double>() / norm);
    }
    return gap;
  }

  std::filesystem::path checkpoint_;
  std::vector<data::Batch> batches_;
};

TEST_F(Bf16, GradientsAreThoseOfFp32) {
  auto narrow = load(Precision::bf16);
  auto wide = load(Precision::fp32);
  (void)narrow.accumulate(batches_[0], 1);
  (void)wide.accumulate(batches_[0], 1);
  const double gap = largest_gap(narrow, wide, [](const auto& p) { return p.gradient; });
  EXPECT_LT(gap, 0.02);
  EXPECT_GT(gap, 0);
}

TEST_F(Bf16, PredictionsAreNearThoseOfFp32AsInt8sAre) {
  auto exact = load(Precision::fp32);
  for (const auto precision : {Precision::bf16, Precision::int8}) {
    auto fixed = load_classifier(checkpoint_, {.labels = data::Labels::nli().names(),
                                               .seed = 1,
                                               .precision = precision,
                                               .only_predicts = true});
    float gap = 0;
    for (const data::Batch& batch : batches_) {
      const metrics::Logits difference = fixed.logits(batch) - exact.logits(batch);
      gap = std::max(gap, difference.cwiseAbs().maxCoeff());
    }
    EXPECT_LT(gap, precision == Precision::bf16 ? 0.005 : 0.02) << name(precision);
    EXPECT_GT(gap, 0);
    EXPECT_THROW((void)fixed.accumulate(batches_[0], 1), Error);
  }
}

using SlowBf16 = Bf16;

TEST_F(SlowBf16, TrainsAsFp32Does) {
  auto narrow = load(Precision::bf16);
  auto wide = load(Precision::fp32);
  optim::Adam one{{.lr = 5e-5}};
  optim::Adam other{{.lr = 5e-5}};
  double gap = 0;
  for (const data::Batch& batch : batches_) {
    const auto loss = static_cast<double>(narrow.accumulate(batch, 1));
    gap = std::max(gap, std::abs(loss - static_cast<double>(wide.accumulate(batch, 1))));
    (void)one.step(narrow.parameters(), {});
    (void)other.step(wide.parameters(), {});
  }
  EXPECT_LT(gap, 1e-3);
  EXPECT_LT(largest_gap(narrow, wide, [](const auto& p) { return p.value; }), 5e-3);
}

}  // namespace
}  // namespace seqtrain::model
