#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/windowed_backend.hpp>

#include "support/made_checkpoint.hpp"
#include "support/one_thread.hpp"

namespace seqtrain::model {
namespace {

const text::Windows windows{
    .length = 12,
    .stride = 3,
    .templates = {.single = {.before = {0}, .after = {2}},
                  .pair = {.before = {0}, .between = {2}, .after = {2}, .type_zero_between = 1}},
    .pad_id = 1};

/// Returns texts, or pairs of which some have a longer first text and some a longer second.
data::Batch some_texts(std::int64_t index = 1, bool pairs = false) {
  data::Batch batch = tests::MadeCheckpoint::batch(index);
  for (auto& length : batch.lengths) length = std::max(length, pairs ? 4 : 2);
  std::ranges::fill(batch.token_type_ids, 0);
  for (std::int64_t row = 0; pairs && row < batch.rows; ++row) {
    const std::int64_t length = batch.lengths[static_cast<std::size_t>(row)];
    const std::int64_t second = row % 2 == 0 ? 2 + (length - 3) / 4 : length - 2;
    auto* const types = batch.token_type_ids.data() + row * batch.width;
    std::fill(types + second, types + length, 1);
  }
  return batch;
}

/// Returns the windows of texts as one batch, and the number of windows of each text.
std::pair<data::Batch, std::vector<std::int64_t>> windows_of(const data::Batch& texts) {
  std::vector<predict::Encoded> all;
  std::vector<std::int64_t> counts;
  for (std::int64_t row = 0; row < texts.rows; ++row) {
    const auto length = static_cast<std::size_t>(texts.lengths[static_cast<std::size_t>(row)]);
    const std::span ids{texts.input_ids.data() + row * texts.width, length};
    counts.push_back(0);
    const auto* const types = texts.token_type_ids.data() + row * texts.width;
    const auto second = static_cast<std::size_t>(std::find(types, types + length, 1) - types);
    for (auto& window : text::windows_of(ids, second, windows)) {
      all.push_back({std::move(window.input_ids), window.first_segment});
      ++counts.back();
    }
  }
  return {predict::to_batch(all, windows.pad_id), counts};
}

AnyClassifier load(const tests::MadeCheckpoint& checkpoint, ClassifierOptions options) {
  options.labels = {"a", "b", "c"};
  return load_classifier(checkpoint.path(), options);
}

/// The difference of two models' gradients, as a share of their size.
double gap(const AnyClassifier& one, const AnyClassifier& other) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < one.parameters().size(); ++i) {
    const auto& gradient = one.parameters()[i].gradient;
    difference += (gradient - other.parameters()[i].gradient).pow(2).sum().item<double>();
    size += gradient.pow(2).sum().item<double>();
  }
  EXPECT_GT(size, 0);
  return std::sqrt(difference / size);
}

/// The windows above with each pooling of their logits.
std::vector<text::Windows> poolings() {
  text::Windows largest = windows;
  largest.pooling = text::WindowPooling::max;
  return {windows, largest};
}

TEST(WindowedBackend, LogitsAreTheMeanOfTheWindowsOrTheLargest) {
  const tests::OneThread one_thread;
  const tests::MadeCheckpoint checkpoint;
  auto plain = load(checkpoint, {});
  for (int i = 0; i < 8; ++i) {
    const data::Batch texts = some_texts(1, i >= 4);
    const auto [batch, counts] = windows_of(texts);
    EXPECT_GT(std::ranges::max(counts), 1);
    const auto of_windows = plain.logits(batch);
    const auto form = poolings()[i % 2];
    const std::size_t most = i % 4 < 2 ? 24 : 1 << 20;
    auto model = load(checkpoint, {.windows = form, .most_tokens = most});
    EXPECT_GT(model.longest_row(), 1'000'000);
    std::vector<text::DecidingWindow> deciding;
    const auto logits = model.logits(texts, &deciding);
    EXPECT_EQ(model.logits(texts), logits);
    ASSERT_EQ(logits.rows(), texts.rows);
    ASSERT_EQ(std::ssize(deciding), texts.rows);
    for (Eigen::Index row = 0, first = 0; row < logits.rows(); ++row) {
      const auto count = counts[static_cast<std::size_t>(row)];
      const auto rows = of_windows.middleRows(first, count);
      const bool mean = form.pooling == text::WindowPooling::mean;
      const Eigen::RowVectorXf expected =
          mean ? rows.colwise().mean().eval() : rows.colwise().maxCoeff().eval();
      EXPECT_LT((logits.row(row) - expected).cwiseAbs().maxCoeff(), 1e-6);
      Eigen::Index label = 0, decided = 0;
      logits.row(row).maxCoeff(&label);
      rows.col(label).maxCoeff(&decided);
      const auto& window = deciding[static_cast<std::size_t>(row)];
      EXPECT_EQ(window.index, static_cast<std::size_t>(decided));
      EXPECT_EQ(window.count, static_cast<std::size_t>(count));
      EXPECT_LT(window.begin, window.end);
      if (count > 1) {
        EXPECT_EQ(window.of_second, i >= 4 && row % 2 == 0);
      }
      first += count;
    }
  }
}

/// The loss of windows whose text is known: every window has the whole loss of all texts.
struct LossOfTexts {
  std::vector<std::int64_t> counts;
  data::Batch texts;
  text::WindowPooling pooling;

  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch&) const {
    std::vector<at::Tensor> rows;
    std::int64_t first = 0;
    for (const auto count : counts) {
      const auto of_text = logits.narrow(0, first, count);
      rows.push_back(pooling == text::WindowPooling::max ? of_text.amax(0)
                                                         : of_text.sum(0) / count);
      first += count;
    }
    const at::Tensor loss = CrossEntropy{}(at::stack(rows), tensor::labels_of(texts)).mean();
    return loss.expand({logits.size(0)});
  }
};

TEST(WindowedBackend, GradientIsThatOfOneLossAText) {
  const tests::OneThread one_thread;
  const tests::MadeCheckpoint checkpoint;
  for (int i = 0; i < 8; ++i) {
    const data::Batch texts = some_texts(1, i >= 4);
    auto [batch, counts] = windows_of(texts);
    batch.labels.assign(batch.labels.size(), 0);
    const bool autograd = i % 4 < 2;
    const auto form = poolings()[i % 2];
    auto plain = load(checkpoint, {.dropout = 0, .autograd = autograd});
    plain.set_loss(LossOfTexts{counts, texts, form.pooling});
    const auto expected = static_cast<double>(plain.accumulate(batch, 0.5));
    for (const std::size_t most : {24, 200, 1 << 20}) {
      auto model = load(checkpoint,
                        {.dropout = 0, .windows = form, .most_tokens = most, .autograd = autograd});
      const auto loss = model.accumulate(texts, 0.5);
      EXPECT_NEAR(static_cast<double>(loss), expected, 1e-5);
      EXPECT_LT(gap(plain, model), 1e-5) << most;
    }
  }
}

TEST(WindowedBackend, ShortTextsHaveTheBitsThatTheyHaveWithoutWindows) {
  const tests::OneThread one_thread;
  const tests::MadeCheckpoint checkpoint;
  text::Windows wide = windows;
  wide.length = 1000;
  auto plain = load(checkpoint, {.dropout = 0.1});
  auto model = load(checkpoint, {.dropout = 0.1, .windows = wide});
  const auto loss = static_cast<double>(plain.accumulate(some_texts(), 1));
  EXPECT_EQ(static_cast<double>(model.accumulate(some_texts(), 1)), loss);
  EXPECT_EQ(gap(plain, model), 0);
  EXPECT_EQ(plain.logits(some_texts()), model.logits(some_texts()));
}

TEST(WindowedBackend, AFrozenEncoderKeepsTheStatesOfWindows) {
  const tests::OneThread one_thread;
  const tests::MadeCheckpoint checkpoint;
  data::Batch texts = some_texts();
  texts.set = 5;
  auto model = load(checkpoint, {.freeze_encoder = true, .windows = windows, .most_tokens = 60});
  const auto logits = model.logits(texts);
  EXPECT_EQ(model.logits(texts), logits);
  auto whole = load(checkpoint, {.freeze_encoder = true, .windows = windows});
  EXPECT_EQ(whole.logits(texts), logits);
}

/// Backend that note the calls. The logits of a window are its first id that is not special times a
/// weight, times a number that dropout draws.
class NotedBackend : public Backend {
 public:
  struct Call {
    std::uint64_t drawn = 0;
    bool ended_early = false;
    bool told = false;
  };

  NotedBackend(at::Tensor weight, std::vector<Call>& calls)
      : weight_{std::move(weight)}, calls_{&calls} {}

  at::Tensor accumulate(const StepInputs& step) override {
    Call call{.drawn = step.stream.at(0)};
    const auto kept = static_cast<float>(call.drawn % 7 + 1);
    const at::Tensor loss =
        loss_and_backward(step, logits(step.batch) * kept, tensor::to_device(step.batch, at::kCPU));
    call.ended_early = !loss.defined();
    calls_->push_back(call);
    if (loss.defined()) step.ready(calls_->size() - 1);
    return loss;
  }

  at::Tensor logits(const data::Batch& batch) override {
    std::vector<float> first;
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      first.push_back(
          static_cast<float>(batch.input_ids[static_cast<std::size_t>(row * batch.width + 1)]));
    }
    return at::tensor(first).unsqueeze(1) * weight_;
  }

  at::Tensor hidden(const data::Batch& batch) override { return logits(batch); }

 private:
  at::Tensor weight_;
  std::vector<Call>* calls_;
};

TEST(WindowedBackend, PartsHaveTheSameDropoutInBothPasses) {
  data::Batch batch;
  batch.rows = 1;
  batch.width = 6;
  batch.input_ids = {0, 5, 6, 7, 8, 0};
  batch.token_type_ids.assign(6, 0);
  batch.lengths = {6};
  batch.labels = {0};
  const at::Tensor weight = at::tensor({0.5F, 2.0F}).set_requires_grad(true);
  std::vector<NotedBackend::Call> calls;
  WindowedBackend backend{std::make_unique<NotedBackend>(weight, calls),
                          {.length = 4, .templates = {.single = {.before = {0}, .after = {0}}}},
                          4};
  std::vector<std::size_t> told;
  const std::function<void(std::size_t)> ready = [&](std::size_t call) { told.push_back(call); };
  const LossOfLogits square = [](const at::Tensor& logits, const tensor::Batch& texts) {
    EXPECT_EQ(texts.labels.numel(), 1);
    EXPECT_EQ(logits.size(0), 1);
    return logits.pow(2).sum();
  };
  const auto loss =
      backend.accumulate({batch, 0.5, random::Stream{1, random::Purpose::dropout}, square, ready});
  ASSERT_EQ(calls.size(), 4u);
  for (const std::size_t part : {0, 1}) {
    EXPECT_TRUE(calls[part].ended_early);
    EXPECT_FALSE(calls[part + 2].ended_early);
    EXPECT_EQ(calls[part].drawn, calls[part + 2].drawn);
  }
  EXPECT_NE(calls[0].drawn, calls[1].drawn);
  EXPECT_EQ(told, std::vector<std::size_t>{3}) << "gradients are complete in the last part";
  const auto kept = [&](std::size_t i) { return static_cast<double>(calls[i].drawn % 7 + 1); };
  const double mean = (5 * kept(0) + 7 * kept(1)) / 2;  // d(logit)/d(weight)
  EXPECT_NEAR(loss.item<double>(), mean * mean * (0.25 + 4), 1e-3);
  EXPECT_NEAR(weight.grad()[0].item<double>(), 0.5 * 2 * 0.5 * mean * mean, 1e-3);
  EXPECT_NEAR(weight.grad()[1].item<double>(), 0.5 * 2 * 2 * mean * mean, 1e-3);
}

}  // namespace
}  // namespace seqtrain::model
