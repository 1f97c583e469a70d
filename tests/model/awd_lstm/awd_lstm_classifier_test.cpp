#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/weights/tensor_view.hpp>

#include "support/awd_lstm_golden.hpp"
#include "support/model_conformance.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::model {
namespace {

using tests::AwdLstmGolden;

static_assert(Checkpointable<AwdLstmClassifier, optim::Adam>);
static_assert(LoaderFor<data::BucketLoader, AwdLstmClassifier>);

AwdLstmClassifierOptions small_options(double dropout, std::uint64_t seed) {
  return {.labels = {"a", "b", "c"},
          .shape = tests::awd_lstm_shape,
          .dropout = {dropout, dropout, dropout, dropout, dropout},
          .head_hidden = 10,
          .head_dropout = dropout,
          .bptt = 6,
          .seed = seed};
}

struct SmallAwdLstmClassifier {
  static AwdLstmClassifier make(double dropout, std::uint64_t seed) {
    return AwdLstmClassifier{tests::awd_lstm_words, small_options(dropout, seed)};
  }
  static data::Batch batch(std::int64_t index) {
    return AwdLstmGolden{}.classifier_batches()[static_cast<std::size_t>(index)];
  }
};

TEST(AwdLstmClassifier, LosesAndDecidesAsInPyTorch) {
  const tests::OneThread one_thread;
  const AwdLstmGolden golden;
  auto options = small_options(0, 1);
  options.alpha = options.beta = 0;
  AwdLstmClassifier model{tests::awd_lstm_words, options};
  tests::load_all(model, weights::FastaiFile{tests::awd_lstm_golden() / "classifier.pth"});
  optim::Adam optimizer{{.lr = 5e-3}};
  const auto batches = golden.classifier_batches();
  const auto expected = golden.numbers("classifier", "losses");
  ASSERT_EQ(expected.size(), 50U);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    const auto& batch = batches[step % batches.size()];
    EXPECT_NEAR(static_cast<double>(model.accumulate(batch, 1)), expected[step], 1e-3) << step;
    optimizer.step(model.parameters(), {});
  }
  const auto logits = model.logits(batches[0]);
  const auto golden_logits = golden.numbers("classifier", "logits");
  ASSERT_EQ(static_cast<std::size_t>(logits.size()), golden_logits.size());
  for (std::size_t i = 0; i < golden_logits.size(); ++i) {
    EXPECT_NEAR(logits(static_cast<Eigen::Index>(i) / 3, static_cast<Eigen::Index>(i) % 3),
                golden_logits[i], 1e-2);
  }
}

void expect_losses_of_fastai(ProblemType type, const char* field) {
  const tests::OneThread one_thread;
  const auto golden = AwdLstmGolden::of_fastai();
  auto options = small_options(0, 1);
  options.problem_type = type;
  AwdLstmClassifier model{tests::awd_lstm_words, options};
  tests::load_all(model, weights::FastaiFile{tests::awd_lstm_golden() / "classifier.pth"});
  tests::FastaiCycle cycle{golden, model.groups()};
  auto batches = golden.classifier_batches();
  for (auto& batch : batches) {
    if (type == ProblemType::single_label) batch.targets.clear();
  }
  const auto expected = golden.numbers("classifier", field);
  ASSERT_EQ(expected.size(), 50U);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    const auto& batch = batches[step % batches.size()];
    EXPECT_NEAR(static_cast<double>(model.accumulate(batch, 1)), expected[step], 1e-3) << step;
    cycle.step(model);
  }
}

TEST(AwdLstmClassifier, LosesAsInFastai) {
  expect_losses_of_fastai(ProblemType::single_label, "losses");
}

TEST(AwdLstmClassifier, LosesAsInFastaiOnSeveralLabels) {
  expect_losses_of_fastai(ProblemType::multi_label, "several");
}

data::Batch with_targets() {
  auto batch = SmallAwdLstmClassifier::batch(0);
  for (std::int64_t i = 0; i < 3 * batch.rows; ++i) {
    batch.targets.push_back(i % 2 == 0 ? 1.0F : 0.0F);
  }
  return batch;
}

TEST(AwdLstmClassifier, LearnsSeveralLabelsOfAText) {
  const tests::OneThread one_thread;
  auto options = small_options(0, 1);
  options.problem_type = ProblemType::multi_label;
  AwdLstmClassifier model{tests::awd_lstm_words, options};
  EXPECT_EQ(model.problem_type(), ProblemType::multi_label);
  const auto batch = with_targets();
  optim::Adam optimizer{{.lr = 1e-2}};
  const auto first = static_cast<double>(model.accumulate(batch, 1));
  EXPECT_NEAR(first, std::log(2.0), 0.2);  // the mean over rows and labels
  for (int step = 0; step < 30; ++step) {
    optimizer.step(model.parameters(), {});
    model.accumulate(batch, 1);
  }
  EXPECT_LT(static_cast<double>(model.accumulate(batch, 1)), first / 2);
  EXPECT_THROW(model.accumulate(SmallAwdLstmClassifier::batch(0), 1), InputError);
}

TEST(AwdLstmClassifier, MayHaveQuasiRecurrentLayers) {
  const tests::OneThread one_thread;
  auto options = small_options(0.1, 1);
  options.shape.qrnn = true;
  AwdLstmClassifier model{tests::awd_lstm_words, options};
  EXPECT_EQ(model.groups()[1],
            (std::vector<std::string>{"0.module.rnns.0.layers.0.linear.weight_raw",
                                      "0.module.rnns.0.layers.0.linear.module.bias"}));
  const auto batch = SmallAwdLstmClassifier::batch(0);
  optim::Adam optimizer{{.lr = 1e-2}};
  const auto first = static_cast<double>(model.accumulate(batch, 1));
  for (int step = 0; step < 40; ++step) {
    optimizer.step(model.parameters(), {});
    model.accumulate(batch, 1);
  }
  EXPECT_LT(static_cast<double>(model.accumulate(batch, 1)), first / 2);
}

TEST(AwdLstmClassifier, LooksAtNoPadding) {
  const tests::OneThread one_thread;
  auto model = SmallAwdLstmClassifier::make(0, 1);
  auto batch = SmallAwdLstmClassifier::batch(0);
  const auto logits = model.logits(batch);
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const auto begin = static_cast<std::size_t>(row * batch.width);
    for (auto i = static_cast<std::size_t>(batch.lengths[static_cast<std::size_t>(row)]);
         i < static_cast<std::size_t>(batch.width); ++i) {
      batch.input_ids[begin + i] = 17;
    }
  }
  EXPECT_EQ(model.logits(batch), logits);
}

TEST(AwdLstmClassifier, DrawsDropoutFromSeedEpochAndBatchAlone) {
  const tests::OneThread one_thread;
  auto model = SmallAwdLstmClassifier::make(0.5, 1);
  const auto loss = [](AwdLstmClassifier& of, std::int64_t epoch, std::int64_t index) {
    auto batch = SmallAwdLstmClassifier::batch(0);
    batch.epoch = epoch;
    batch.index = index;
    return static_cast<double>(of.accumulate(batch, 1));
  };
  const double first = loss(model, 0, 0);
  EXPECT_NE(loss(model, 0, 1), first);
  EXPECT_NE(loss(model, 1, 0), first);
  EXPECT_EQ(loss(model, 0, 0), first);
  auto other = SmallAwdLstmClassifier::make(0.5, 2);
  EXPECT_NE(loss(other, 0, 0), first);
}

TEST(AwdLstmClassifier, TrainsOnASingleRow) {
  const tests::OneThread one_thread;
  auto model = SmallAwdLstmClassifier::make(0, 1);
  data::Batch batch{.rows = 1,
                    .width = 1,
                    .input_ids = {2},
                    .token_type_ids = {0},
                    .lengths = {1},
                    .labels = {1},
                    .targets = {},
                    .row_ids = {0}};
  EXPECT_TRUE(std::isfinite(static_cast<double>(model.accumulate(batch, 1))));
  for (const auto& parameter : model.parameters()) {
    EXPECT_TRUE(std::isfinite(parameter.gradient.sum().item<double>())) << parameter.name;
  }
  EXPECT_TRUE(model.logits(batch).allFinite());
}

TEST(AwdLstmClassifier, KeepsItsRunningFiguresFromABatchThatIsNotFinite) {
  const tests::OneThread one_thread;
  auto model = SmallAwdLstmClassifier::make(0, 1);
  optim::Adam optimizer;
  model.accumulate(SmallAwdLstmClassifier::batch(0), 1);
  optimizer.step(model.parameters(), {});
  weights::TensorCopies before;
  before.assign(model.state_dict().views());
  model.parameters()[0].value.detach().fill_(std::numeric_limits<float>::quiet_NaN());
  model.accumulate(SmallAwdLstmClassifier::batch(1), 1);
  EXPECT_NE(optimizer.step(model.parameters(), {}).problem(), "");
  const auto state = model.state_dict();
  for (std::size_t i = 1; i < state.views().size(); ++i) {
    EXPECT_EQ(weights::to_floats(state.views()[i]), weights::to_floats(before.views()[i]))
        << state.views()[i].name;
  }
  model.load_state_dict(before.views());
  EXPECT_TRUE(model.logits(SmallAwdLstmClassifier::batch(1)).allFinite());
  model.accumulate(SmallAwdLstmClassifier::batch(1), 1);
  EXPECT_NE(weights::to_floats(model.state_dict().views().back()),
            weights::to_floats(before.views().back()));
}

TEST(AwdLstmClassifier, ThawsFromTheHeadDown) {
  const tests::OneThread one_thread;
  auto model = SmallAwdLstmClassifier::make(0.2, 1);
  const std::vector<std::size_t> learning{6, 10, 14, 18, 19};
  ASSERT_EQ(model.groups().size(), learning.size());
  for (std::size_t count = 1; count <= learning.size(); ++count) {
    model.train_last(count);
    model.accumulate(SmallAwdLstmClassifier::batch(0), 1);
    std::size_t moved = 0;
    for (const auto& parameter : model.parameters()) {
      if (parameter.gradient.defined()) moved += parameter.gradient.abs().sum().item<double>() > 0;
    }
    EXPECT_EQ(moved, learning[count - 1]);
  }
}

TEST(AwdLstmClassifier, TakesTheEncoderOfALanguageModel) {
  const tests::OneThread one_thread;
  auto model = SmallAwdLstmClassifier::make(0, 1);
  LanguageModel source{tests::awd_lstm_words, {.shape = tests::awd_lstm_shape, .seed = 9}};
  model.take_encoder(source);
  for (std::size_t i = 0; i < 13; ++i) {
    EXPECT_TRUE(model.parameters()[i].value.equal(source.parameters()[i].value)) << i;
  }
  LanguageModel wider{tests::awd_lstm_words, {.shape = {.embedding = 12, .hidden = 20}}};
  EXPECT_NE(
      tests::problem_of([&] { model.take_encoder(wider); }).find("[80, 20], expected [64, 16]"),
      std::string::npos);
}

TEST(AwdLstmClassifier, GoesOnFromASavedStateBitForBit) {
  const tests::OneThread one_thread;
  auto model = SmallAwdLstmClassifier::make(0.3, 1);
  optim::Adam optimizer;
  const auto step = [](AwdLstmClassifier& of, optim::Adam& by, std::int64_t index) {
    const auto loss = static_cast<double>(of.accumulate(SmallAwdLstmClassifier::batch(index), 1));
    by.step(of.parameters(), {});
    return loss;
  };
  step(model, optimizer, 0);
  auto resumed = SmallAwdLstmClassifier::make(0.3, 1);
  resumed.load_state_dict(model.state_dict().views());
  optim::Adam other;
  other.load_state(optimizer.state().views(), resumed.parameters());
  EXPECT_EQ(resumed.logits(SmallAwdLstmClassifier::batch(2)),
            model.logits(SmallAwdLstmClassifier::batch(2)));
  EXPECT_EQ(step(resumed, other, 1), step(model, optimizer, 1));
  EXPECT_EQ(step(resumed, other, 2), step(model, optimizer, 2));
}

TEST(AwdLstmClassifier, RefusesWhatDoesNotFit) {
  const auto problem = [](auto change) {
    auto options = small_options(0, 1);
    change(options);
    return tests::problem_of([&] { AwdLstmClassifier{tests::awd_lstm_words, options}; });
  };
  EXPECT_NE(problem([](auto& o) { o.labels.pop_back(), o.labels.pop_back(); }).find("labels"),
            std::string::npos);
  EXPECT_NE(problem([](auto& o) { o.head_dropout = 1; }).find("head_dropout"), std::string::npos);
  EXPECT_NE(problem([](auto& o) { o.alpha = -1; }).find("alpha"), std::string::npos);
  EXPECT_NE(problem([](auto& o) { o.beta = std::nan(""); }).find("beta"), std::string::npos);
  EXPECT_NE(problem([](auto& o) { o.bptt = 0; }).find("bptt"), std::string::npos);
  auto model = SmallAwdLstmClassifier::make(0, 1);
  auto batch = SmallAwdLstmClassifier::batch(0);
  batch.input_ids[0] = 40;
  EXPECT_NE(tests::problem_of([&] { model.logits(batch); }).find("input_ids: 40"),
            std::string::npos);
  batch = SmallAwdLstmClassifier::batch(0);
  batch.labels[0] = 3;
  EXPECT_NE(tests::problem_of([&] { model.accumulate(batch, 1); }).find("labels: 3"),
            std::string::npos);
}

TEST(ConcatPooling, TakesLastGreatestAndMeanOfTheTokens) {
  const at::Tensor hidden = at::tensor({1.F, 9.F, -2.F, 5.F, 7.F, 7.F,  //
                                        -4.F, -6.F, 8.F, 8.F, 8.F, 8.F})
                                .view({2, 3, 2});
  const at::Tensor pooled = concat_pooling(hidden, at::tensor({2, 1}).to(at::kInt));
  const at::Tensor expected = at::tensor({-2.F, 5.F, 1.F, 9.F, -0.5F, 7.F,  //
                                          -4.F, -6.F, -4.F, -6.F, -4.F, -6.F})
                                  .view({2, 6});
  EXPECT_TRUE(pooled.equal(expected)) << pooled;
}

}  // namespace
}  // namespace seqtrain::model

namespace seqtrain::tests {
INSTANTIATE_TYPED_TEST_SUITE_P(SmallAwdLstmClassifier, ModelConformance,
                               model::SmallAwdLstmClassifier);
}  // namespace seqtrain::tests

namespace seqtrain::model {
namespace {

constexpr std::int64_t state_rows = 3, state_width = 7, state_size = 2;

at::Tensor made_states() {
  return at::arange(state_rows * state_width * state_size, at::kFloat)
      .mul_(1.7)
      .sin_()
      .view({state_rows, state_width, state_size});
}

/// Returns the regularization of states that are laid out as fastai lays them out: zeros for whole
/// chunks of padding, then the words and the rest of the padding.
double regularization(const at::Tensor& states, const at::Tensor& lengths,
                      const RegularizationOptions& options) {
  at::Tensor laid_out = at::zeros({state_rows, state_width, state_size}, at::kDouble);
  for (std::int64_t row = 0; row < state_rows; ++row) {
    const std::int64_t padding = state_width - lengths[row].item<std::int64_t>();
    const std::int64_t zeros = padding / options.bptt * options.bptt;
    laid_out[row].slice(0, zeros).copy_(states[row].slice(0, 0, state_width - zeros));
  }
  const at::Tensor change = laid_out.slice(1, 1).sub(laid_out.slice(1, 0, -1));
  return options.alpha * laid_out.square().mean().item<double>() +
         options.beta * change.square().mean().item<double>();
}

/// Expects the gradient that differences of the regularization give.
void expect_gradient(const RegularizationOptions& options) {
  const at::Tensor states = made_states().to(at::kDouble);
  const at::Tensor lengths = at::tensor({7, 4, 1}).to(at::kInt);
  const at::Tensor gradient = at::zeros_like(states);
  add_regularization_gradient(gradient, states, lengths, options);
  for (std::int64_t i = 0; i < states.numel(); ++i) {
    const auto moved = [&](double by) {
      at::Tensor other = states.clone();
      other.view({-1})[i].add_(by);
      return regularization(other, lengths, options);
    };
    EXPECT_NEAR(gradient.view({-1})[i].item<double>(), (moved(1e-3) - moved(-1e-3)) / 2e-3, 1e-6)
        << i;
  }
}

TEST(Regularization, HasTheGradientOfMeanSquares) {
  expect_gradient({.alpha = 2, .beta = 0, .bptt = 2});
  expect_gradient({.alpha = 0, .beta = 1, .bptt = 2});
  expect_gradient({.alpha = 2, .beta = 1, .bptt = 3});
  expect_gradient({.alpha = 0.5, .beta = 3, .bptt = 72});
}

TEST(Regularization, AddsToAGradient) {
  const at::Tensor states = made_states();
  const at::Tensor lengths = at::tensor({7, 7, 7}).to(at::kInt);
  const at::Tensor gradient = at::zeros_like(states).fill_(5);
  add_regularization_gradient(gradient, states, lengths, {.alpha = 3, .beta = 0});
  EXPECT_TRUE(gradient.allclose(states.mul(6.0 / 42).add(5)));
}

TEST(Regularization, LeavesOutChangesWhereThereIsOneWord) {
  const at::Tensor states = made_states().slice(1, 0, 1).contiguous();
  const at::Tensor gradient = at::zeros_like(states);
  add_regularization_gradient(gradient, states, at::tensor({1, 1, 1}).to(at::kInt), {.alpha = 0});
  EXPECT_EQ(gradient.abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace seqtrain::model
