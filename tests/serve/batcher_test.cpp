#include <algorithm>
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
  explicit HeldBatcher(BatcherOptions options = {}, std::size_t window = 0)
      : model{std::make_shared<const Served<ServedModel>>(tests::served({.window = window,
                                                                         .before_predict =
                                                                             [this](std::size_t n) {
                                                                               batches.push_back(n);
                                                                               door.pass();
                                                                             }}))},
        batcher{std::move(options), metrics} {}

  std::shared_ptr<FakeJob> job(const std::vector<std::string>& texts, std::promise<void>* done) {
    EncodedTexts encoded;
    for (const auto& text : texts) {
      const PredictInput given{.text = text, .truncation = Truncation::right};
      add_text(model->predictor, given, 1000, encoded);
    }
    return std::make_shared<FakeJob>(model, std::move(encoded), Clock::now(),
                                     [done] { done->set_value(); });
  }

  PrometheusMetrics metrics;
  Door door;
  std::vector<std::size_t> batches;  // sizes of the batches
  std::shared_ptr<const Served<ServedModel>> model;
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
    EXPECT_FALSE(job->error());
    EXPECT_EQ(job->rows(), expected) << budget;
  }
}

TEST(Batcher, ComputesShortTextsBetweenTheWindowsOfALongOne) {
  HeldBatcher held{{.max_batch_tokens = 8}, 4};
  held.door.close();
  std::promise<void> first_done, long_done, short_done;
  held.batcher.submit(held.job({"a"}, &first_done));
  held.door.await(1);
  const std::string text = "abcdefghijklmnopqrstuvwxyz0123";
  const auto job = held.job({"x", text, "yz"}, &long_done);
  held.batcher.submit(job);
  held.batcher.submit(held.job({"b"}, &short_done));
  EXPECT_EQ(held.metrics.queue_size, 13);
  held.door.open();
  short_done.get_future().wait();
  long_done.get_future().wait();
  EXPECT_EQ(held.batches, (std::vector<std::size_t>{1, 2, 2, 2, 2, 2, 2, 1}));

  const ServedModel alone{{.window = 4}};
  const std::vector encoded{alone.encode("x", {}, 100), alone.encode(text, {}, 100),
                            alone.encode("yz", {}, 100)};
  std::vector<text::DecidingWindow> deciding;
  const auto expected = alone.predict(encoded, &deciding);
  ASSERT_EQ(job->rows().size(), 3u);
  for (Eigen::Index i = 0; const auto& row : job->rows()) {
    EXPECT_TRUE(std::ranges::equal(row, expected.row(i++)));
  }
  ASSERT_EQ(job->windows().size(), 3u);
  EXPECT_EQ(job->windows()[1].count, 10u);
  EXPECT_EQ(job->windows()[1].index, deciding[1].index);
  EXPECT_EQ(job->windows()[1].end, deciding[1].end);
}

TEST(Batcher, ABatchTakesNoMoreThanItsTime) {
  using std::chrono::milliseconds;
  Clock::time_point now{};
  std::vector<std::size_t> batches;
  const auto model = std::make_shared<const Served<ServedModel>>(
      tests::served({.max_length = 100, .before_predict = [&](std::size_t n) {
                       batches.push_back(n);
                       now += milliseconds{100} * n;
                     }}));
  std::promise<void> done;
  EncodedTexts texts;
  for (int i = 0; i < 40; ++i) {
    texts.parts.push_back(model->predictor.encode(std::string(99, 'a'), {}, 100));
  }
  PrometheusMetrics metrics;
  {
    Batcher<ServedModel> batcher{{.max_batch_time = milliseconds{1000}, .now = [&] { return now; }},
                                 metrics};
    batcher.submit(std::make_shared<FakeJob>(model, std::move(texts), Clock::time_point{},
                                             [&] { done.set_value(); }));
    done.get_future().wait();
  }
  EXPECT_EQ(batches, (std::vector<std::size_t>{5, 10, 10, 10, 5}));
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
  ASSERT_TRUE(bad->error());
  EXPECT_EQ(bad->error()->status(), 424);
  EXPECT_STREQ(bad->error()->what(), "Inference failed: the model broke");
  EXPECT_FALSE(good->error());
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
  ASSERT_TRUE(late->error());
  EXPECT_EQ(late->error()->status(), 429);
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
