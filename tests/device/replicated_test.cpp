#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>

#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/trainer.hpp>

#include "support/dist_worlds.hpp"
#include "support/fake_device.hpp"
#include "support/made_checkpoint.hpp"
#include "support/on_device.hpp"
#include "support/one_thread.hpp"

namespace seqtrain::dist {
namespace {

using tests::fake_device;

data::EncodedSet some_rows() {
  data::EncodedSet set{tests::MadeCheckpoint::vocab_size, 1};
  for (std::int32_t row = 0; row < 40; ++row) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(3 + row % 7));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = 2 + (row * 5 + static_cast<std::int32_t>(i) * 11) % 100;
    }
    set.push_back(ids, ids.size() / 2, row % 3);
  }
  return set;
}

/// Expects that the thread that trains never waits for the device itself between two steps.
struct NoWaits {
  std::int64_t waits = -1;

  void on(const train::StepEnd&) {
    const auto now = tests::waits_of_this_thread();
    if (waits >= 0) {
      EXPECT_EQ(now, waits);
    }
    waits = now;
  }
};

/// Returns the bytes of a trained model. The ranks are threads, so that nothing may draw random
/// numbers, of which the device has one stream.
std::string trained(const std::filesystem::path& checkpoint, const World& world,
                    std::int64_t replicas, std::int64_t accumulation, bool autograd) {
  const auto* const guard = c10::impl::getDeviceGuardImpl(fake_device.type());
  const c10::StreamGuard own{guard->getStreamFromGlobalPool(fake_device)};
  auto group = Group::connect(world, {.timeout = std::chrono::seconds{20}, .device = fake_device});
  Replicated model{
      model::load_classifier(
          checkpoint, {.dropout = 0, .seed = 7, .device = fake_device, .autograd = autograd}),
      group,
      {.replicas = replicas, .accumulation = accumulation}};
  const auto together = static_cast<std::size_t>(replicas * accumulation);
  data::BucketLoader loader{
      some_rows(),
      {.plan = {.batch_size = 2, .batches_together = together}, .seed = 7, .shard = model.shard()}};
  Trainer trainer{std::move(model), optim::Adam{{.lr = 1e-3}}, std::move(loader), sink::Discard{}};
  NoWaits no_waits;
  trainer.fit({.epochs = 1, .gradient_accumulation_steps = replicas * accumulation}, no_waits);
  std::string bytes;
  const auto state = trainer.model().state_dict();
  for (const auto& tensor : state.views()) {
    bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  return bytes;
}

/// Expects that worlds of these sizes train to the bits of one process. In the largest one each
/// process has one part of a step.
void expect_equal_bits(const tests::MadeModel& made, const std::vector<int>& sizes,
                       bool autograd = false) {
  const tests::OneThread one_thread;  // products by several threads may have other bits
  const tests::MadeCheckpoint checkpoint{made};
  const auto run = [&](const World& world) {
    return trained(checkpoint.path(), world, sizes.back(), autograd ? 2 : 1, autograd);
  };
  const std::string alone = run({});
  for (const int ranks : sizes) {
    const auto errors = tests::on_threads(tests::local_worlds(ranks), [&](const World& world) {
      EXPECT_TRUE(run(world) == alone) << ranks << " ranks, autograd " << autograd;
    });
    EXPECT_EQ(errors, std::vector<std::string>(errors.size()));
  }
}

TEST(ReplicatedOnDevice, TrainsToTheSameBitsAtAnyNumberOfRanks) {
  for (const bool autograd : {false, true}) expect_equal_bits({}, {2, 3}, autograd);
}

TEST(SlowReplicatedOnDevice, TrainsToTheSameBitsIfGradientsAreLate) {
  // Each layer has more numbers than a bucket, so that buckets are sent before late gradients.
  tests::MadeModel made{.family = "mpnet", .hidden = 512, .inner = 1024};
  expect_equal_bits(made, {2});
  made.family = "deberta-v2";
  made.more = R"("relative_attention": true, "pos_att_type": "c2p|p2c", "share_att_key": true,
                 "norm_rel_ebd": "layer_norm", "conv_kernel_size": 3)";
  expect_equal_bits(made, {2});
}

}  // namespace
}  // namespace seqtrain::dist
