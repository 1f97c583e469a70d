#include <cmath>
#include <filesystem>
#include <string>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/loss_alone.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/train/evaluate.hpp>

#include "support/made_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

static_assert(ScoredByLoss<LossAlone> && Restorable<LossAlone>);
static_assert(!seqtrain::Classifier<LossAlone> && !seqtrain::LanguageModel<LossAlone>);

/// The distance of a row's states from the mean of the batch.
struct Spread {
  at::Tensor operator()(const at::Tensor& states, const tensor::Batch&) const {
    return (states - states.mean(0, true)).square().mean(1);
  }
};

LossAlone make(const tests::MadeCheckpoint& checkpoint, bool autograd = false) {
  return {load_classifier(checkpoint.path(), {.labels = {"LABEL_0", "LABEL_1"},
                                              .dropout = 0.0,
                                              .head = no_head(Pooling::mean),
                                              .seed = 3,
                                              .autograd = autograd}),
          Spread{}};
}

data::Batch unlabelled_batch() {
  auto batch = tests::MadeCheckpoint::batch(0);
  for (auto& label : batch.labels) label = 0;
  return batch;
}

TEST(LossAlone, HasTheLossOfTrainingWithoutDropout) {
  const tests::MadeCheckpoint checkpoint;
  const auto batch = unlabelled_batch();
  for (const bool autograd : {false, true}) {
    auto model = make(checkpoint, autograd);
    const auto losses = model.losses(batch);
    ASSERT_EQ(losses.losses.size(), static_cast<std::size_t>(batch.rows));
    metrics::MeanRowLoss mean;
    mean.add(losses);
    EXPECT_GT(mean.value(), 0);
    EXPECT_NEAR(static_cast<double>(model.accumulate(batch, 1)), mean.value(), 1e-5);
    EXPECT_EQ(model.weight_of(batch), static_cast<double>(batch.rows));
  }
}

TEST(LossAlone, HasGradientsOfTheEncoder) {
  const tests::MadeCheckpoint checkpoint;
  auto model = make(checkpoint);
  (void)model.accumulate(unlabelled_batch(), 1);
  for (const auto& parameter : model.parameters()) {
    if (!parameter.name.ends_with("query.weight")) continue;
    EXPECT_GT(parameter.gradient.abs().max().item<float>(), 0) << parameter.name;
  }
}

TEST(LossAlone, SavesTheEncoder) {
  const tests::MadeCheckpoint checkpoint;
  const tests::TemporaryDirectory directory;
  auto model = make(checkpoint);
  model.save_pretrained(directory.path());
  auto again = load_classifier(directory.path(), {.head = no_head(Pooling::mean)});
  EXPECT_EQ(again.logits(unlabelled_batch()), model.classifier().logits(unlabelled_batch()));
}

}  // namespace
}  // namespace seqtrain::model
