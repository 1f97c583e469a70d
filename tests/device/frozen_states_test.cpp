#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/loader.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/tensor/machine.hpp>

#include "support/deterministic.hpp"
#include "support/fake_device.hpp"
#include "support/made_checkpoint.hpp"
#include "support/on_device.hpp"
#include "support/one_thread.hpp"

namespace seqtrain::tests {
namespace {

data::BucketLoader loader_of_rows(std::size_t count) {
  data::EncodedSet set{MadeCheckpoint::vocab_size, 1};
  random::Stream stream{4, random::Purpose::data};
  for (std::size_t row = 0; row < count; ++row) {
    std::vector<std::int32_t> ids(1 + stream.below(30));
    for (auto& id : ids) id = 1 + static_cast<std::int32_t>(stream.below(50));
    set.push_back(ids, ids.size(), static_cast<std::int32_t>(row % 3));
  }
  return data::BucketLoader{std::move(set), {.plan = {.batch_size = 8}}};
}

/// What an epoch gave: the losses, and what it asked of the device.
struct Epoch {
  std::vector<double> losses = {};
  DeviceCounts counts = {};
};

/// A frozen encoder on the device, with attention with or without padding.
class FrozenOnDevice : public testing::TestWithParam<std::tuple<model::Precision, bool>> {
 protected:
  [[nodiscard]] model::AnyClassifier load() const {
    const auto [precision, padded] = GetParam();
    return model::load_classifier(checkpoint_.path(), {.dropout = 0.2,
                                                       .freeze_encoder = true,
                                                       .device = fake_device,
                                                       .precision = precision,
                                                       .autograd = padded});
  }

  /// Trains the batches of these epochs.
  static std::vector<Epoch> learn(model::AnyClassifier& model,
                                  const std::vector<std::int64_t>& epochs, bool tells_set = true) {
    std::vector<Epoch> seen;
    optim::Adam optimizer{{.lr = 1e-2}};
    auto loader = loader_of_rows(40);
    for (const std::int64_t epoch : epochs) {
      Epoch& now = seen.emplace_back();
      std::vector<model::MeanLoss> losses;
      reset_device_counts();
      for (data::Batch batch : loader.epoch(epoch)) {
        if (!tells_set) batch.set = 0;
        losses.push_back(model.accumulate(batch, 1));
        optimizer.step(model.parameters(), {});
      }
      now.counts = device_counts();
      for (auto& loss : losses) now.losses.push_back(static_cast<double>(loss));
    }
    return seen;
  }

  OneThread one_thread_;
  MadeCheckpoint checkpoint_;
};

TEST_P(FrozenOnDevice, GivesTheSameBitsWhereItIsNotRunAgain) {
  auto once = load();
  auto again = load();
  const auto kept = learn(once, {0, 0, 0});
  const auto computed = learn(again, {0, 0, 0}, false);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].losses, computed[i].losses) << i;
    if (i == 0) continue;
    EXPECT_LT(2 * kept[i].counts.operators, computed[i].counts.operators) << i;
    EXPECT_EQ(kept[i].counts.waits, 0) << i;
  }
  for (std::size_t i = 0; i < once.parameters().size(); ++i) {
    EXPECT_EQ(difference(once.parameters()[i].value, again.parameters()[i].value), 0) << i;
  }
}

TEST_P(FrozenOnDevice, FindsRowsInOtherBatches) {
  auto once = load();
  auto again = load();
  const auto kept = learn(once, {0, 1});
  const auto computed = learn(again, {0, 1}, false);
  const double tolerance = std::get<0>(GetParam()) == model::Precision::fp32 ? 1e-5 : 0.03;
  for (std::size_t i = 0; i < kept[1].losses.size(); ++i) {
    EXPECT_NEAR(kept[1].losses[i], computed[1].losses[i], tolerance) << i;
  }
  EXPECT_LT(2 * kept[1].counts.operators, computed[1].counts.operators);
}

TEST_P(FrozenOnDevice, KeepsNothingWhereBitsMustNotDependOnEarlierBatches) {
  auto model = load();
  const DeterminismRestored restored;
  tensor::use_deterministic_operators(fake_device);
  const auto seen = learn(model, {0, 0, 0});
  EXPECT_EQ(seen[1].counts.operators, seen[2].counts.operators);
  EXPECT_EQ(seen[1].counts.copies_to, seen[2].counts.copies_to);
  auto other = load();
  EXPECT_EQ(learn(other, {0, 0, 0}, false)[2].counts.operators, seen[2].counts.operators);
}

TEST_P(FrozenOnDevice, RunsAgainIfItsWeightsAreOthers) {
  auto model = load();
  auto loader = loader_of_rows(8);
  const data::Batch batch = *loader.epoch(0).begin();
  const auto before = model.logits(batch);
  EXPECT_EQ(model.logits(batch), before);
  model.parameters()[3].value.mul_(2);
  data::Batch untold = batch;
  untold.set = 0;
  EXPECT_NE(model.logits(batch), before);
  EXPECT_EQ(model.logits(batch), model.logits(untold));
}

INSTANTIATE_TEST_SUITE_P(Backend, FrozenOnDevice,
                         testing::Combine(testing::Values(model::Precision::fp32,
                                                          model::Precision::bf16,
                                                          model::Precision::fp16),
                                          testing::Bool()),
                         [](const auto& test) {
                           return std::string{name(std::get<0>(test.param))} +
                                  (std::get<1>(test.param) ? "Padded" : "Packed");
                         });

}  // namespace
}  // namespace seqtrain::tests
