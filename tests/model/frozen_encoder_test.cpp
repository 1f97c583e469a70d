#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/loader.hpp>
#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/tensor/threads.hpp>

#include "support/made_checkpoint.hpp"
#include "support/one_thread.hpp"

namespace seqtrain::model {
namespace {

using tests::MadeCheckpoint;

data::EncodedSet some_rows(std::size_t count) {
  data::EncodedSet set{MadeCheckpoint::vocab_size, 1};
  random::Stream stream{4, random::Purpose::data};
  for (std::size_t row = 0; row < count; ++row) {
    std::vector<std::int32_t> ids(1 + stream.below(70));
    for (auto& id : ids) id = static_cast<std::int32_t>(stream.below(MadeCheckpoint::vocab_size));
    set.push_back(ids, stream.below(ids.size() + 1), static_cast<std::int32_t>(row % 3));
  }
  return set;
}

class FrozenEncoder : public testing::TestWithParam<Precision> {
 protected:
  [[nodiscard]] Classifier<Bert> load() const {
    return Classifier<Bert>{weights::WeightsFolder{checkpoint_.path()},
                            {.dropout = 0.2, .freeze_encoder = true, .precision = GetParam()}};
  }

  static data::BucketLoader loader() {
    return data::BucketLoader{some_rows(60), {.plan = {.batch_size = 8, .bucket_pool = 4}}};
  }

  tests::OneThread one_thread_;
  MadeCheckpoint checkpoint_;
};

/// Returns losses and logits of two epochs. `tells_set` tells whether a batch names its set.
std::pair<std::vector<double>, std::vector<metrics::Logits>> learn(Classifier<Bert>& model,
                                                                   data::BucketLoader loader,
                                                                   bool tells_set) {
  std::pair<std::vector<double>, std::vector<metrics::Logits>> seen;
  optim::Adam optimizer{{.lr = 1e-2}};
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    for (data::Batch batch : loader.epoch(epoch)) {
      if (!tells_set) batch.set = 0;
      seen.first.push_back(static_cast<double>(model.accumulate(batch, 1)));
      optimizer.step(model.parameters(), {});
      seen.second.push_back(model.logits(batch));
    }
  }
  return seen;
}

TEST_P(FrozenEncoder, GivesTheSameBitsWhereItIsNotRunAgain) {
  for (const int threads : {1, 2}) {
    tensor::set_threads(threads);
    auto once = load();
    auto again = load();
    EXPECT_TRUE(learn(once, loader(), true) == learn(again, loader(), false)) << threads;
    for (std::size_t i = 0; i < once.parameters().size(); ++i) {
      EXPECT_TRUE(once.parameters()[i].value.equal(again.parameters()[i].value)) << i;
    }
  }
}

TEST_P(FrozenEncoder, RunsOnceForARowUntilItsWeightsAreOthers) {
  auto model = load();
  auto batches = loader();
  const data::Batch batch = *batches.epoch(0).begin();
  data::Batch untold = batch;
  untold.set = 0;
  const auto before = model.logits(batch);
  const auto& norm = model.parameters()[3];
  ASSERT_EQ(norm.name, "bert.embeddings.LayerNorm.weight");
  norm.value.data().mul_(2);  // torch does not count this change
  EXPECT_EQ(model.logits(batch), before);
  const auto after = model.logits(untold);
  EXPECT_NE(after, before);
  const auto copy = model.state_dict();
  model.load_state_dict(copy.views());
  EXPECT_EQ(model.logits(batch), after);
  norm.value.mul_(2);
  EXPECT_NE(model.logits(batch), after);
  EXPECT_EQ(model.logits(batch), model.logits(untold));
}

INSTANTIATE_TEST_SUITE_P(Products, FrozenEncoder, testing::Values(Precision::fp32, Precision::bf16),
                         [](const auto& test) { return std::string{name(test.param)}; });

}  // namespace
}  // namespace seqtrain::model
