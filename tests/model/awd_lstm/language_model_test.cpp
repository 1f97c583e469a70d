#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/data/language_loader.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/train/evaluate.hpp>

#include "support/awd_lstm_golden.hpp"
#include "support/model_conformance.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::model {
namespace {

using tests::AwdLstmGolden;

static_assert(Checkpointable<LanguageModel, optim::Adam>);
static_assert(LoaderFor<data::LanguageLoader, LanguageModel>);

LanguageModel make_language_model(double dropout, std::uint64_t seed) {
  return LanguageModel{tests::awd_lstm_words,
                       {.shape = tests::awd_lstm_shape,
                        .dropout = {dropout, dropout, dropout, dropout, dropout},
                        .seed = seed}};
}

struct SmallLanguageModel {
  static LanguageModel make(double dropout, std::uint64_t seed) {
    return LanguageModel{tests::awd_lstm_words,
                         {.shape = {.embedding = 32, .hidden = 32, .layers = 1},
                          .dropout = {dropout, dropout, dropout, dropout, dropout},
                          .alpha = 0.01,
                          .beta = 0.01,
                          .seed = seed}};
  }
  static data::LanguageBatch batch(std::int64_t index) {
    return AwdLstmGolden{}.language_batches(0)[static_cast<std::size_t>(index)];
  }
};

LanguageModel as_in_pytorch() {
  auto model = make_language_model(0, 1);
  tests::load_all(model, weights::FastaiFile{tests::awd_lstm_golden() / "language.pth"});
  return model;
}

TEST(LanguageModel, LosesAsInPyTorch) {
  const tests::OneThread one_thread;
  const AwdLstmGolden golden;
  auto model = as_in_pytorch();
  optim::Adam optimizer{{.lr = 5e-3}};
  const auto expected = golden.numbers("language", "losses");
  ASSERT_EQ(expected.size(), 50U);
  std::size_t step = 0;
  for (std::int64_t epoch = 0; step < expected.size(); ++epoch) {
    for (const auto& batch : golden.language_batches(epoch)) {
      if (step == expected.size()) break;
      EXPECT_NEAR(static_cast<double>(model.accumulate(batch, 1)), expected[step], 1e-3) << step;
      optimizer.step(model.parameters(), {});
      ++step;
    }
  }
}

TEST(LanguageModel, LosesAsInFastai) {
  const tests::OneThread one_thread;
  const auto golden = AwdLstmGolden::of_fastai();
  auto model = as_in_pytorch();
  tests::FastaiCycle cycle{golden, model.groups()};
  const auto expected = golden.numbers("language", "losses");
  ASSERT_EQ(expected.size(), 50U);
  for (std::size_t step = 0; step < expected.size();) {
    for (const auto& batch : golden.language_batches(static_cast<std::int64_t>(step / 5))) {
      EXPECT_NEAR(static_cast<double>(model.accumulate(batch, 1)), expected[step], 1e-3) << step;
      cycle.step(model);
      ++step;
    }
  }
}

TEST(LanguageModel, CarriesItsStateThroughAnEpochOnly) {
  const tests::OneThread one_thread;
  const auto batches = AwdLstmGolden{}.language_batches(0);
  auto model = make_language_model(0, 1);
  const auto loss = [&](LanguageModel& of, std::size_t index) {
    return static_cast<double>(of.accumulate(batches[index], 1));
  };
  const double first = loss(model, 0);
  const double second = loss(model, 1);
  EXPECT_EQ(loss(model, 0), first);  // begins anew
  EXPECT_EQ(loss(model, 1), second);
  auto fresh = make_language_model(0, 1);
  EXPECT_NE(loss(fresh, 1), second);  // follows no batch
}

TEST(LanguageModel, GoesOnFromASavedStateBitForBit) {
  const tests::OneThread one_thread;
  const auto batches = AwdLstmGolden{}.language_batches(2);
  auto model = make_language_model(0.3, 1);
  optim::Adam optimizer;
  for (std::size_t i = 0; i < 3; ++i) {
    model.accumulate(batches[i], 1);
    optimizer.step(model.parameters(), {});
  }
  auto resumed = make_language_model(0.3, 1);
  resumed.load_state_dict(model.state_dict().views());
  optim::Adam other;
  other.load_state(optimizer.state().views(), resumed.parameters());
  for (std::size_t i = 3; i < batches.size(); ++i) {
    EXPECT_EQ(static_cast<double>(resumed.accumulate(batches[i], 1)),
              static_cast<double>(model.accumulate(batches[i], 1)));
    optimizer.step(model.parameters(), {});
    other.step(resumed.parameters(), {});
  }
}

/// Shows a model a batch that makes its hidden states NaN.
void show_broken(LanguageModel& model, const data::LanguageBatch& batch, std::int64_t first_word) {
  const at::Tensor embedding = model.encoder().embedding().detach();
  const at::Tensor before = embedding.clone();
  embedding.slice(0, first_word, first_word + 1).fill_(std::nanf(""));
  optim::Adam optimizer;
  model.accumulate(batch, 1);
  EXPECT_NE(optimizer.step(model.parameters(), {}).problem(), "");
  EXPECT_TRUE(std::isnan(model.evaluate(batch)));
  embedding.copy_(before);
}

TEST(LanguageModel, BeginsARowAnewAfterABatchThatIsNotFinite) {
  const tests::OneThread one_thread;
  auto batches = AwdLstmGolden{}.language_batches(0);
  for (auto& id : batches[0].input_ids) id = 0;
  auto model = make_language_model(0, 1);
  show_broken(model, batches[0], 0);
  auto fresh = make_language_model(0, 1);
  EXPECT_EQ(model.evaluate(batches[1]), fresh.evaluate(batches[1]));
  EXPECT_EQ(static_cast<double>(model.accumulate(batches[1], 1)),
            static_cast<double>(fresh.accumulate(batches[1], 1)));
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    EXPECT_TRUE(model.parameters()[i].gradient.equal(fresh.parameters()[i].gradient)) << i;
  }
}

TEST(LanguageModel, KeepsTheStateOfRowsThatAreFinite) {
  const tests::OneThread one_thread;
  auto batches = AwdLstmGolden{}.language_batches(0);
  batches[0].input_ids[0] = 0;  // in row 0 alone
  auto model = make_language_model(0, 1);
  show_broken(model, batches[0], 0);
  model.accumulate(batches[1], 1);
  const auto broken = model.state_dict();
  auto whole = make_language_model(0, 1);
  for (const std::size_t i : {0U, 1U}) whole.accumulate(batches[i], 1);
  const auto expected = whole.state_dict();
  for (std::size_t i = 0; i < expected.views().size(); ++i) {
    const auto& view = expected.views()[i];
    if (!view.name.ends_with(".h") && !view.name.ends_with(".c")) continue;
    const auto row = static_cast<std::ptrdiff_t>(view.shape[1]);
    const auto numbers = weights::to_floats(broken.views()[i]);
    const auto wanted = weights::to_floats(view);
    EXPECT_TRUE(std::isfinite(numbers[0])) << view.name;
    EXPECT_NE(numbers[0], wanted[0]) << view.name;
    EXPECT_TRUE(std::equal(numbers.begin() + row, numbers.end(), wanted.begin() + row))
        << view.name;
  }
}

TEST(LanguageModel, WeighsAccumulatedBatchesByTheirWords) {
  const tests::OneThread one_thread;
  const auto batches = AwdLstmGolden{}.language_batches(0);
  const auto wide = std::ranges::max_element(batches, {}, &data::LanguageBatch::width);
  data::LanguageBatch narrow{.rows = wide->rows, .width = 1};
  data::LanguageBatch rest{.index = 1, .rows = wide->rows, .width = wide->width - 1};
  for (std::size_t i = 0; i < wide->labels.size(); ++i) {
    const bool first = i % static_cast<std::size_t>(wide->width) == 0;
    (first ? narrow : rest).input_ids.push_back(wide->input_ids[i]);
    (first ? narrow : rest).labels.push_back(wide->labels[i]);
  }
  data::LanguageBatch whole = *wide;
  whole.index = 0;
  auto model = make_language_model(0, 1);
  auto expected = make_language_model(0, 1);
  const auto loss = static_cast<double>(expected.accumulate(whole, 1));
  const double words = model.weight_of(narrow) + model.weight_of(rest);
  EXPECT_EQ(words, model.weight_of(whole));
  double sum = 0;
  for (const auto* batch : {&narrow, &rest}) {
    const double weight = model.weight_of(*batch) / words;
    sum += weight * static_cast<double>(model.accumulate(*batch, weight));
  }
  EXPECT_NEAR(sum, loss, 1e-5);
  // The decoder's bias alone has a gradient that does not reach back in time.
  EXPECT_TRUE(model.parameters().back().gradient.allclose(expected.parameters().back().gradient,
                                                          1e-4, 1e-6));
}

TEST(LanguageModel, EvaluatesApartFromTraining) {
  const tests::OneThread one_thread;
  const auto batches = AwdLstmGolden{}.language_batches(0);
  auto model = make_language_model(0.4, 1);
  auto alone = make_language_model(0.4, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    const double trained = static_cast<double>(model.accumulate(batches[i], 1));
    EXPECT_EQ(trained, static_cast<double>(alone.accumulate(batches[i], 1)));
    const double evaluated = model.evaluate(batches[i]);
    EXPECT_NE(evaluated, trained);
    if (i > 0) continue;
    EXPECT_EQ(model.evaluate(batches[0]), evaluated);
  }
}

static_assert(seqtrain::LanguageModel<LanguageModel>);
static_assert(!seqtrain::Classifier<LanguageModel>);

TEST(LanguageModel, HasThePerplexityOfItsMeanLoss) {
  const tests::OneThread one_thread;
  data::EncodedSet set{static_cast<std::size_t>(tests::awd_lstm_words), 1};
  std::vector<std::int32_t> ids(161);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(2 + i * i % 37);
  set.push_back(ids, ids.size(), -1);
  auto model = make_language_model(0.5, 1);
  data::LanguageLoader wide{set, {.batch_size = 2, .bptt = 80, .order = data::Order::file}};
  data::LanguageLoader narrow{set, {.batch_size = 2, .bptt = 7, .order = data::Order::file}};
  const double expected = std::exp(model.evaluate(*wide.epoch(0).begin()));
  const auto perplexity = [&model](data::LanguageLoader& loader) {
    return train::evaluate(model, loader, {.split = "dev"}).figures.at(0).value;
  };
  EXPECT_NEAR(perplexity(wide), expected, 1e-9);
  EXPECT_NEAR(perplexity(narrow), expected, 1e-3);
}

TEST(LanguageModel, FreezesAllButItsLastGroups) {
  const tests::OneThread one_thread;
  auto model = make_language_model(0, 1);
  model.train_last(1);
  const auto learns = [&] {
    std::vector<std::string> names;
    for (const auto& parameter : model.parameters()) {
      if (parameter.gradient.defined()) names.push_back(parameter.name);
    }
    return names;
  };
  EXPECT_EQ(learns(), (std::vector<std::string>{"0.encoder.weight", "1.decoder.bias"}));
  const auto before = model.parameters()[1].value.clone();
  model.accumulate(SmallLanguageModel::batch(0), 1);
  optim::Adam{}.step(model.parameters(), {});
  EXPECT_TRUE(model.parameters()[1].value.equal(before));
  model.train_last(model.groups().size());
  EXPECT_EQ(learns().size(), model.parameters().size());
  model.accumulate(SmallLanguageModel::batch(0), 1);
  EXPECT_GT(model.parameters()[1].gradient.abs().sum().item<double>(), 0);
}

TEST(LanguageModel, RefusesBatchesThatDoNotFit) {
  auto model = make_language_model(0, 1);
  const auto problem = [&](auto change) {
    auto batch = SmallLanguageModel::batch(0);
    change(batch);
    return tests::problem_of([&] { model.accumulate(batch, 1); });
  };
  EXPECT_NE(problem([](auto& batch) { batch.input_ids[0] = 40; }).find("input_ids: 40"),
            std::string::npos);
  EXPECT_NE(problem([](auto& batch) { batch.labels[0] = -1; }).find("labels: -1"),
            std::string::npos);
  EXPECT_NE(problem([](auto& batch) { batch.labels.pop_back(); }).find("do not fit"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::model

namespace seqtrain::tests {
INSTANTIATE_TYPED_TEST_SUITE_P(SmallLanguageModel, ModelConformance, model::SmallLanguageModel);
}  // namespace seqtrain::tests
