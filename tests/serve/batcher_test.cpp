#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/batcher.hpp>

#include "support/served_model.hpp"

namespace seqtrain::serve {
namespace {

using tests::Door;
using tests::ServedModel;
using FakeJob = Job<ServedModel>;

/// A batcher whose model waits for `door` before each batch.
struct HeldBatcher {
  explicit HeldBatcher(BatcherOptions options = {}) : batcher{std::move(options), metrics} {}

  std::shared_ptr<FakeJob> job(const std::vector<std::string>& texts, std::promise<void>* done) {
    std::vector<predict::Encoded> encoded;
    for (const auto& text : texts) encoded.push_back(model->predictor.encode(text, {}, 1000));
    return std::make_shared<FakeJob>(model, std::move(encoded), Clock::now(),
                                     [done] { done->set_value(); });
  }

  PrometheusMetrics metrics;
  Door door;
  std::vector<std::size_t> batches;  // sizes of the batches
  std::shared_ptr<const Served<ServedModel>> model = std::make_shared<const Served<ServedModel>>(
      tests::served({.before_predict = [this](std::size_t n) {
        batches.push_back(n);
        door.pass();
      }}));
  Batcher<ServedModel> batcher;
};

TEST(Batcher, GathersWhileTheModelWorks) {
  HeldBatcher held;
  held.door.close();
  std::vector<std::promise<void>> done(4);
  held.batcher.submit(held.job({"alone"}, &done[0]));
  held.door.await(1);  // The first text left at once.
  for (std::size_t i = 1; i < 4; ++i) held.batcher.submit(held.job({"a", "b"}, &done[i]));
  EXPECT_EQ(held.metrics.queue_size, 6);
  held.door.open();
  for (auto& each : done) each.get_future().wait();
  EXPECT_EQ(held.batches, (std::vector<std::size_t>{1, 6}));
  EXPECT_EQ(held.metrics.queue_size, 0);
}

TEST(Batcher, AnswersAreTheSameBitsInAnyBatch) {
  const std::vector<std::string> texts{"one", "a longer text", "x", "something else", "y"};
  const ServedModel alone{{}};
  std::vector<std::vector<float>> expected;
  for (const auto& text : texts) {
    const std::vector encoded{alone.encode(text, {}, 1000)};
    const auto logits = alone.predict(encoded);
    expected.emplace_back(logits.data(), logits.data() + logits.size());
  }
  for (const std::size_t budget : {1u, 10u, 20u, 1000u}) {
    HeldBatcher held{{.max_batch_tokens = budget}};
    std::promise<void> done;
    const auto job = held.job(texts, &done);
    held.batcher.submit(job);
    done.get_future().wait();
    EXPECT_FALSE(job->refusal());
    EXPECT_EQ(job->rows(), expected) << budget;
  }
}

TEST(Batcher, AFailureIsThatOfItsBatchAlone) {
  HeldBatcher held{{.max_batch_tokens = 1}};
  std::promise<void> bad_done;
  std::promise<void> good_done;
  const auto bad = held.job({"fail, and be long", "later"}, &bad_done);
  const auto good = held.job({"good"}, &good_done);
  held.batcher.submit(bad);
  held.batcher.submit(good);
  bad_done.get_future().wait();
  good_done.get_future().wait();
  ASSERT_TRUE(bad->refusal());
  EXPECT_EQ(bad->refusal()->status(), 424);
  EXPECT_STREQ(bad->refusal()->what(), "Inference failed: the model broke");
  EXPECT_FALSE(good->refusal());
}

TEST(Batcher, ACancelledJobLeavesTheQueue) {
  HeldBatcher held;
  held.door.close();
  std::promise<void> first_done;
  std::promise<void> last_done;
  std::promise<void> never;
  held.batcher.submit(held.job({"first"}, &first_done));
  held.door.await(1);
  const auto cancelled = held.job({"a", "b", "c"}, &never);
  held.batcher.submit(cancelled);
  held.batcher.cancel(*cancelled);
  EXPECT_EQ(held.metrics.queue_size, 0);
  held.batcher.submit(held.job({"last"}, &last_done));
  held.door.open();
  last_done.get_future().wait();
  EXPECT_EQ(held.batches, (std::vector<std::size_t>{1, 1}));
}

TEST(Batcher, RefusesWhatWaitedTooLong) {
  std::atomic<int> seconds = 0;
  const auto noon = Clock::now();
  HeldBatcher held{{.max_wait = std::chrono::seconds{10},
                    .now = [&] { return noon + std::chrono::seconds{seconds.load()}; }}};
  held.door.close();
  std::promise<void> first_done;
  std::promise<void> late_done;
  held.batcher.submit(held.job({"first"}, &first_done));
  held.door.await(1);
  const auto late = held.job({"late"}, &late_done);
  held.batcher.submit(late);
  seconds = 3600;
  held.door.open();
  late_done.get_future().wait();
  ASSERT_TRUE(late->refusal());
  EXPECT_EQ(late->refusal()->status(), 429);
  EXPECT_EQ(held.batches, (std::vector<std::size_t>{1}));
}

TEST(Batcher, FinishesItsQueueAtTheEnd) {
  std::vector<std::promise<void>> done(3);
  {
    HeldBatcher held{{.max_batch_tokens = 1}};
    for (auto& each : done) held.batcher.submit(held.job({"text"}, &each));
  }
  for (auto& each : done) {
    EXPECT_EQ(each.get_future().wait_for(std::chrono::seconds{0}), std::future_status::ready);
  }
}

}  // namespace
}  // namespace seqtrain::serve
