#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/sink/directory.hpp>
#include <seqtrain/trainer.hpp>

#include "support/fakes.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using namespace tests;

auto make_trainer(std::vector<double> x, std::size_t batch_size, double learning_rate = 0.01) {
  return Trainer{FakeModel{}, FakeSgd{learning_rate}, FakeLoader{std::move(x), batch_size},
                 FakeSink{}};
}

struct Recorder {
  void on(const train::FitBegin& event) { log.push_back("begin " + std::to_string(event.steps)); }
  void on(const train::StepEnd& event) {
    log.push_back("step " + std::to_string(event.step) + " of epoch " +
                  std::to_string(event.epoch) + " batch " + std::to_string(event.batch) + "/" +
                  std::to_string(event.batches));
    losses.push_back(event.loss());
    rates.push_back(event.learning_rate);
    examples.push_back(event.examples);
    tokens.push_back(event.tokens);
  }
  void on(const train::EvalBegin& event) {
    log.push_back(std::string{event.split} + " begins at step " + std::to_string(event.step));
  }
  void on(const train::EvalEnd& event) {
    log.push_back(std::string{event.split} + " after " + std::to_string(event.epoch));
  }
  void on(const train::EpochEnd& event) { log.push_back("end " + std::to_string(event.epoch)); }
  void on(const train::FitEnd&) { log.push_back("end"); }

  std::vector<std::string> log = {};
  std::vector<double> losses = {};
  std::vector<double> rates = {};
  std::vector<std::int64_t> examples = {};
  std::vector<std::int64_t> tokens = {};
};

TEST(Trainer, TellsObserversWhatHappensInOrder) {
  auto trainer = make_trainer({1, 2, 3}, 2);
  Recorder recorder;
  const auto report = trainer.fit({.epochs = 2}, FakeLoader{{1, -1}, 2}, recorder);
  EXPECT_EQ(recorder.log, (std::vector<std::string>{
                              "begin 4", "step 1 of epoch 1 batch 1/2",
                              "step 2 of epoch 1 batch 2/2", "dev begins at step 2", "dev after 1",
                              "end 1", "step 3 of epoch 2 batch 1/2", "step 4 of epoch 2 batch 2/2",
                              "dev begins at step 4", "dev after 2", "end 2", "end"}));
  EXPECT_EQ(recorder.examples, (std::vector<std::int64_t>{2, 1, 2, 1}));
  EXPECT_EQ(recorder.tokens, (std::vector<std::int64_t>{6, 3, 6, 3}));
  EXPECT_EQ(report.steps, 4);
  EXPECT_EQ(report.epochs, 2);
  ASSERT_EQ(report.dev.size(), 2U);
  EXPECT_DOUBLE_EQ(report.dev[1].accuracy, 1.0);
}

TEST(Trainer, LetsAnObserverReadLossesLater) {
  struct Late {
    void on(const train::StepEnd& event) {
      now.push_back(event.loss());
      later.push_back(event.loss);
    }
    std::vector<double> now = {};
    std::vector<std::function<double()>> later = {};
  } late;
  auto trainer = make_trainer({1, 2, 3, 4, 5}, 2);
  trainer.fit({.epochs = 2, .gradient_accumulation_steps = 2}, late);
  ASSERT_EQ(late.later.size(), 4U);
  for (std::size_t i = 0; i < late.later.size(); ++i) EXPECT_EQ(late.later[i](), late.now[i]);
}

TEST(Trainer, TellsTheBatchesOfTheRun) {
  struct Begin {
    void on(const train::FitBegin& event) { batches = event.batches; }
    std::int64_t batches = 0;
  } begin;
  const auto fit = [&](const train::FitOptions& options) {
    auto trainer = make_trainer({1, 2, 3, 4, 5}, 2);
    trainer.fit(options, begin);
    return begin.batches;
  };
  EXPECT_EQ(fit({.epochs = 2}), 6);
  EXPECT_EQ(fit({.epochs = 2, .gradient_accumulation_steps = 2}), 6);
  EXPECT_EQ(fit({.max_steps = 4}), 4);
}

TEST(Trainer, LearnsTheWeight) {
  auto trainer = make_trainer({1, 2, 3, -1, -2}, 2, 0.05);
  Recorder recorder;
  (void)trainer.fit({.epochs = 30}, recorder);
  EXPECT_NEAR(trainer.model().weight(), 2.0, 1e-6);
  EXPECT_DOUBLE_EQ(recorder.losses.front(), (4.0 + 16.0) / 2);  // (0 - 2x)^2 for x = 1, 2
  EXPECT_LT(recorder.losses.back(), 1e-9);
}

TEST(Trainer, AccumulationEqualsTheFullBatchInTheShortLastWindowToo) {
  const std::vector<double> x{1, 2, 3, -1, -2, 4, 5};  // windows of 4 + 3 examples
  auto whole = make_trainer(x, 4, 0.001);
  auto parts = make_trainer(x, 1, 0.001);
  Recorder of_whole;
  Recorder of_parts;
  (void)whole.fit({.epochs = 3}, of_whole);
  (void)parts.fit({.epochs = 3, .gradient_accumulation_steps = 4}, of_parts);
  EXPECT_NEAR(whole.model().weight(), parts.model().weight(), 1e-12);
  ASSERT_EQ(of_whole.losses.size(), of_parts.losses.size());
  for (std::size_t i = 0; i < of_whole.losses.size(); ++i) {
    EXPECT_NEAR(of_whole.losses[i], of_parts.losses[i], 1e-12);
  }
}

TEST(Trainer, WeighsUnequalBatchesByTheirExamples) {
  const std::vector<double> x{1, 2, 3, 4, 5};  // one window of batches with 2, 2 and 1 examples
  auto whole = make_trainer(x, 5);
  auto parts = make_trainer(x, 2);
  (void)whole.fit({.epochs = 1});
  (void)parts.fit({.epochs = 1, .gradient_accumulation_steps = 3});
  EXPECT_NEAR(whole.model().weight(), parts.model().weight(), 1e-12);
}

/// A model that weighs a batch by the sum of its x.
class WeighingModel : public FakeModel {
 public:
  [[nodiscard]] double weight_of(const FakeBatch& batch) const {
    return std::accumulate(batch.x.begin(), batch.x.end(), 0.0);
  }
  FakeLoss accumulate(const FakeBatch& batch, double weight) {
    weights.push_back(weight);
    return FakeModel::accumulate(batch, weight);
  }

  std::vector<double> weights = {};
};

TEST(Trainer, WeighsBatchesAsTheModelDoes) {
  Trainer trainer{WeighingModel{}, FakeSgd{0.01}, FakeLoader{{1, 2, 3, 5, 7}, 2}, FakeSink{}};
  (void)trainer.fit({.epochs = 1, .gradient_accumulation_steps = 2});
  EXPECT_EQ(trainer.model().weights, (std::vector<double>{3.0 / 11, 8.0 / 11, 1}));
}

/// A metric: the share of examples whose second logit is above a limit.
class Above {
 public:
  explicit Above(float limit)
      : name{"above " + std::to_string(static_cast<int>(limit))}, limit_{limit} {}

  void add(const metrics::Logits& logits, std::span<const std::int64_t> labels) {
    above_ += static_cast<double>((logits.col(1).array() > limit_).count());
    all_ += static_cast<double>(labels.size());
  }
  void merge(const Above& other) {
    above_ += other.above_;
    all_ += other.all_;
  }
  [[nodiscard]] double value() const { return above_ / all_; }

  std::string name;

 private:
  float limit_;
  double above_ = 0;
  double all_ = 0;
};

static_assert(metrics::Metric<Above>);

/// A metric: the mean of the second logits.
class MeanAnswer {
 public:
  void add(const metrics::Logits& logits, std::span<const std::int64_t> labels) {
    sum_ += static_cast<double>(logits.col(1).sum());
    all_ += static_cast<double>(labels.size());
  }
  void merge(const MeanAnswer& other) {
    sum_ += other.sum_;
    all_ += other.all_;
  }
  [[nodiscard]] double value() const { return sum_ / all_; }

  std::string name = "mean answer";

 private:
  double sum_ = 0;
  double all_ = 0;
};

TEST(Trainer, CountsAUsersMetricsAnewInEachEvaluation) {
  auto trainer = make_trainer({1, 2, 3, -1, -2}, 2, 0.05);
  FakeLoader dev{{1, 2, -1, 4, -3}, 2};
  const Above one{1};
  Recorder recorder;
  const auto report = trainer.fit({.epochs = 30}, dev, Above{0}, recorder, one);
  for (const auto& epoch : report.dev) {
    ASSERT_EQ(epoch.figures.size(), 2U);
    EXPECT_EQ(epoch.figures[0].name, "above 0");
    EXPECT_DOUBLE_EQ(epoch.figures[0].value, 3.0 / 5);  // the weight is positive from the start
    EXPECT_EQ(epoch.figures[1].name, "above 1");
  }
  EXPECT_DOUBLE_EQ(report.dev.back().figures[1].value, 3.0 / 5);
  EXPECT_TRUE(std::isnan(one.value()));  // copies of it have counted
  EXPECT_TRUE(trainer.evaluate(dev, {.split = "test"}, recorder).figures.empty());
  EXPECT_EQ(trainer.evaluate(dev, {.split = "test"}, one).figures.size(), 1U);
}

TEST(Trainer, StopsAtMaxStepsAlsoBeyondTheEpochs) {
  auto trainer = make_trainer({1, 2, 3}, 1);
  Recorder recorder;
  const auto report = trainer.fit({.epochs = 1, .max_steps = 5}, FakeLoader{{1}, 1}, recorder);
  EXPECT_EQ(report.steps, 5);
  EXPECT_EQ(report.epochs, 2);
  EXPECT_EQ(report.dev.size(), 2U);
  EXPECT_EQ(recorder.losses.size(), 5U);
  EXPECT_EQ(recorder.log.front(), "begin 5");
}

TEST(Trainer, HandsScheduleAndClippingToTheOptimizer) {
  auto trainer = make_trainer({1, 2, 3, 4}, 1, 0.01);
  Recorder recorder;
  (void)trainer.fit({.epochs = 1,
                     .max_grad_norm = 0.5,
                     .schedule = {.type = optim::Schedule::Type::linear, .warmup_steps = 2}},
                    recorder);
  EXPECT_EQ(recorder.rates, (std::vector<double>{0, 0.005, 0.01, 0.005}));
  ASSERT_EQ(trainer.optimizer().steps.size(), 4U);
  EXPECT_EQ(trainer.optimizer().steps[1].max_grad_norm, 0.5);
}

TEST(Trainer, PublishesThroughItsSink) {
  const TemporaryDirectory directory;
  write_file(directory / "model.pth", "weights");
  auto trainer = make_trainer({1}, 1);
  trainer.publish(directory.path(), {"model.pth"}, "model_20260101_000000");
  EXPECT_EQ(trainer.sink().keys, (std::vector<std::string>{"model_20260101_000000/model.pth",
                                                           "model_20260101_000000/manifest.json"}));
  EXPECT_EQ(trainer.sink().flushes, 2);
}

TEST(Trainer, RefusesOptionsOutOfRange) {
  auto trainer = make_trainer({1}, 1);
  EXPECT_THROW((void)trainer.fit({.epochs = 0}), InputError);
  EXPECT_THROW((void)trainer.fit({.max_steps = -1}), InputError);
  EXPECT_THROW((void)trainer.fit({.gradient_accumulation_steps = 0}), InputError);
  EXPECT_THROW((void)trainer.fit({.max_grad_norm = std::nan("")}), InputError);
  EXPECT_THROW((void)trainer.fit({.schedule = {.warmup_ratio = 2}}), InputError);
  EXPECT_EQ(trainer.model().weight(), 0.0);
}

TEST(Trainer, RefusesToTrainOnNothing) {
  auto trainer = make_trainer({}, 1);
  EXPECT_THROW((void)trainer.fit({.epochs = 1}), InputError);
}

TEST(Trainer, LetsAnObserversErrorThrough) {
  struct Thrower {
    void on(const train::StepEnd& event) {
      if (event.step == 2) throw Error{"enough"};
    }
  };
  auto trainer = make_trainer({1, 2, 3}, 1);
  EXPECT_THROW((void)trainer.fit({.epochs = 1}, Thrower{}), Error);
}

TEST(Trainer, StopsBeforeAStepWhoseGradientsAreNotFinite) {
  const double nan = std::nan("");
  for (const bool delayed : {false, true}) {
    auto trainer = make_trainer({1, 2, nan, 3}, 1);
    if (delayed) trainer.optimizer().delay_outcomes();
    const auto problem = problem_of([&] { (void)trainer.fit({.epochs = 1}); });
    EXPECT_NE(problem.find("epoch 1, step 3"), std::string::npos) << problem;
    EXPECT_NE(problem.find("1 rows: the gradient of w is not finite"), std::string::npos)
        << problem;
    EXPECT_EQ(problem.find("loss nan") != std::string::npos, !delayed) << problem;
    EXPECT_TRUE(std::isfinite(trainer.model().weight()));
  }
}

/// The gradient norms of each step.
struct Norms {
  void on(const train::StepEnd& event) { of_steps.push_back(event.gradient_norm()); }
  std::vector<double> of_steps = {};
};

TEST(Trainer, TellsTheGradientNormOfEachStep) {
  for (const bool delayed : {false, true}) {
    auto trainer = make_trainer({1, 2}, 1, 0.0);
    if (delayed) trainer.optimizer().delay_outcomes();
    Norms norms;
    (void)trainer.fit({.epochs = 1}, norms);
    EXPECT_EQ(norms.of_steps, (std::vector<double>{4, 16}));  // 2 (0 - 2x) x for x = 1, 2
  }
}

TEST(Trainer, KnowsNoGradientNormOfAnOptimizerThatDoesNotTell) {
  struct Silent {
    using parameter_type = tests::FakeParameter;
    void step(std::span<const tests::FakeParameter> parameters, optim::Step) {
      *parameters[0].gradient = 0;
    }
    [[nodiscard]] double learning_rate() const { return 0; }
  };
  Trainer trainer{FakeModel{}, Silent{}, FakeLoader{{1, 2}, 1}, sink::Discard{}};
  Norms norms;
  (void)trainer.fit({.epochs = 1}, norms);
  ASSERT_EQ(norms.of_steps.size(), 2U);
  EXPECT_TRUE(std::isnan(norms.of_steps[0]) && std::isnan(norms.of_steps[1]));
}

TEST(Trainer, SkipsStepsWhoseGradientsAreNotFinite) {
  struct Skips {
    void on(const train::StepSkipped& event) { steps.push_back(event.skipped); }
    std::vector<std::int64_t> steps = {};
  };
  for (const bool delayed : {false, true}) {
    auto trainer = make_trainer({1, std::nan(""), 3}, 1);
    if (delayed) trainer.optimizer().delay_outcomes();
    Skips skips;
    const auto report = trainer.fit({.epochs = 2, .on_nonfinite = train::OnNonfinite::skip}, skips);
    EXPECT_EQ(report.steps, 6);
    EXPECT_EQ(report.skipped_steps, 2);
    EXPECT_EQ(skips.steps, (std::vector<std::int64_t>{1, 2}));
    EXPECT_TRUE(std::isfinite(trainer.model().weight()));
  }
}

TEST(Trainer, EndsEarlyWithoutPatience) {
  auto trainer = make_trainer({1, 2, 3}, 1);
  const auto report =
      trainer.fit({.epochs = 10, .early_stopping_patience = 2}, FakeLoader{{1, -1}, 2});
  EXPECT_EQ(report.epochs, 3);  // right from the first on, so the next two are no better
  EXPECT_EQ(report.dev.size(), 3U);
  EXPECT_EQ(report.epoch_of_model, 2U);
}

/// Ends a fit after a step, or after an evaluation.
struct Ender {
  void on(const train::StepEnd& event) { ends |= event.step == step; }
  void on(const train::EvalEnd& event) { ends |= event.epoch == epoch; }
  [[nodiscard]] bool should_stop() const { return ends; }

  std::int64_t step = 0, epoch = 0;
  bool ends = false;
};

TEST(Trainer, EndsWhenAnObserverAsksForIt) {
  const auto fit = [](Ender ender) {
    auto trainer = make_trainer({1, 2, 3}, 1);
    return trainer.fit({.epochs = 4}, FakeLoader{{1, -1}, 2}, ender);
  };
  const auto in_an_epoch = fit({.step = 4});
  EXPECT_EQ(in_an_epoch.steps, 4);
  EXPECT_EQ(in_an_epoch.epochs, 2);
  EXPECT_EQ(in_an_epoch.dev.size(), 2U);
  EXPECT_EQ(fit({.step = 6}).steps, 6);
  EXPECT_EQ(fit({.step = 6}).dev.size(), 2U);
  EXPECT_EQ(fit({.epoch = 1}).steps, 3);
  EXPECT_EQ(fit({}).steps, 12);
}

/// Asks for the end of a fit once.
struct OnceEnder {
  void on(const train::StepEnd& event) { asks = event.step == 3; }
  [[nodiscard]] bool should_stop() const { return asks; }
  bool asks = false;
};

TEST(Trainer, StaysEndedWhenItIsResumed) {
  const train::FitOptions options{.epochs = 2, .checkpoint = {.every = 1}};
  const TemporaryDirectory directory;
  const auto fit = [&](const train::FitOptions& some, auto... observers) {
    Trainer trainer{FakeModel{}, FakeSgd{0.01}, FakeLoader{{1, 2, 3, 4, 5}, 1},
                    sink::Directory{directory.path()}};
    return trainer.fit(some, observers...).steps;
  };
  EXPECT_EQ(fit(options, OnceEnder{}), 3);
  EXPECT_EQ(fit(options), 3);
  auto longer = options;
  longer.epochs = 3;
  EXPECT_EQ(fit(longer), 15);
}

TEST(Trainer, EndsWithTheBestModel) {
  auto first_epoch = make_trainer({1, 2, 3}, 1);
  (void)first_epoch.fit({.epochs = 1});
  auto trainer = make_trainer({1, 2, 3}, 1);
  const auto report = trainer.fit({.epochs = 3}, FakeLoader{{1, -1}, 2}, train::BestModel{});
  EXPECT_EQ(report.epochs, 3);
  EXPECT_EQ(report.epoch_of_model, 0U);
  EXPECT_EQ(trainer.model().weight(), first_epoch.model().weight());
}

TEST(Trainer, ChoosesTheEpochByTheMetricThatIsNamed) {
  const auto fit = [](const train::FitOptions& options, auto... parts) {
    auto trainer = make_trainer({1, 2, 3}, 1);
    const auto report =
        trainer.fit(options, FakeLoader{{2, -1}, 2}, train::BestModel{}, std::move(parts)...);
    auto again = make_trainer({1, 2, 3}, 1);
    const auto best = static_cast<std::int64_t>(report.epoch_of_model);
    (void)again.fit({.epochs = best + 1});
    EXPECT_EQ(trainer.model().weight(), again.model().weight());
    return report;
  };
  // The accuracy is 1 from the first epoch on; the loss falls while the weight grows.
  EXPECT_EQ(fit({.epochs = 3}).epoch_of_model, 0U);
  const auto by_loss = fit({.epochs = 3, .metric_for_best_model = "loss"});
  EXPECT_EQ(by_loss.epoch_of_model, 2U);
  EXPECT_LT(by_loss.dev[2].loss, by_loss.dev[0].loss);
  const auto by_own =
      fit({.epochs = 3, .metric_for_best_model = "mean answer", .greater_is_better = false},
          MeanAnswer{});
  EXPECT_LT(by_own.dev[0].figures.at(0).value, by_own.dev[2].figures.at(0).value);
  EXPECT_EQ(by_own.epoch_of_model, 0U);
  EXPECT_EQ(fit({.epochs = 3, .metric_for_best_model = "mean answer"}, MeanAnswer{}).epoch_of_model,
            2U);
}

TEST(Trainer, EndsEarlyByAUsersMetric) {
  auto trainer = make_trainer({1, 2, 3}, 1);
  const train::FitOptions options{.epochs = 10,
                                  .early_stopping_patience = 2,
                                  .metric_for_best_model = "mean answer",
                                  .greater_is_better = false};
  const auto report = trainer.fit(options, FakeLoader{{1}, 1}, MeanAnswer{});
  EXPECT_EQ(report.epochs, 3);
}

TEST(Trainer, EvaluatesALanguageModelByItsPerplexity) {
  Trainer trainer{WordModel{}, FakeSgd{0.01}, FakeLoader{{1, 2, 3}, 1}, FakeSink{}};
  FakeLoader dev{{1, 3}, 1};
  const auto report = trainer.fit({.epochs = 2, .metric_for_best_model = "perplexity"}, dev);
  ASSERT_EQ(report.dev.size(), 2U);
  EXPECT_EQ(report.dev[1].problem_type, ProblemType::language_modeling);
  EXPECT_DOUBLE_EQ(report.dev[1].loss, 2);
  EXPECT_EQ(report.dev[1].figures.at(0).name, "perplexity");
  EXPECT_DOUBLE_EQ(report.dev[1].figures[0].value, std::exp(2));
  EXPECT_DOUBLE_EQ(trainer.evaluate(dev, report.point("test")).loss, 2);
}

TEST(Trainer, ReportsWhatItsCheckpointerCouldNotSave) {
  struct Checkpointer {
    std::optional<train::SavedFit> restore(const train::FitPlan&) { return {}; }
    void save(train::Moment, const train::FitView&) {}
    static std::string problem() { return "the bucket cannot be reached"; }
  };
  auto trainer = make_trainer({1, 2, 3}, 1);
  EXPECT_EQ(trainer.fit({.epochs = 1}, Checkpointer{}).unsaved, "the bucket cannot be reached");
  EXPECT_EQ(trainer.fit({.epochs = 1}).unsaved, "");
}

/// An optimizer whose average of the weight is a number that answers everything wrong.
struct AveragingSgd : FakeSgd {
  using FakeSgd::FakeSgd;
  void exchange_averages(std::span<const FakeParameter> parameters) {
    std::swap(*parameters[0].value, average);
  }
  double average = -1;
};

auto make_averaging_trainer() {
  return Trainer{FakeModel{}, AveragingSgd{0.01}, FakeLoader{{1, 2, 3}, 1}, FakeSink{}};
}

TEST(Trainer, EvaluatesAndEndsWithTheAveragesOfTheOptimizer) {
  auto plain = make_trainer({1, 2, 3}, 1);
  EXPECT_EQ(plain.fit({.epochs = 2}, FakeLoader{{1, -1}, 2}).dev.at(1).accuracy, 1);
  auto trainer = make_averaging_trainer();
  const auto report = trainer.fit({.epochs = 2}, FakeLoader{{1, -1}, 2}, train::BestModel{false});
  EXPECT_EQ(report.dev.at(0).accuracy, 0);
  EXPECT_EQ(report.dev.at(1).accuracy, 0);
  EXPECT_EQ(trainer.model().weight(), -1);
  EXPECT_EQ(trainer.optimizer().average, plain.model().weight());
}

TEST(Trainer, KeepsTheAveragesOfTheBestEpoch) {
  auto trainer = make_averaging_trainer();
  (void)trainer.fit({.epochs = 2}, FakeLoader{{1, -1}, 2}, train::BestModel{});
  EXPECT_EQ(trainer.model().weight(), -1);
}

TEST(Trainer, TakesBackTheAveragesIfAnObserverThrows) {
  struct Thrower {
    void on(const train::EvalEnd&) { throw Error{"the disk is full"}; }
  } thrower;
  auto trainer = make_averaging_trainer();
  EXPECT_THROW((void)trainer.fit({.epochs = 1}, FakeLoader{{1, -1}, 1}, thrower), Error);
  EXPECT_GT(trainer.model().weight(), 0);
}

TEST(Trainer, SavesTheValuesIfAnEvaluationWithAveragesIsStopped) {
  struct Stopper {
    void on(const train::EvalStep&) { stop.request_stop(); }
    std::stop_source stop = {};
  } stopper;
  struct Checkpointer {
    std::optional<train::SavedFit> restore(const train::FitPlan&) { return {}; }
    void save(train::Moment moment, const train::FitView& fit) {
      if (moment != train::Moment::stop) return;
      fit.tensors([this](std::string_view owner, std::span<const weights::TensorView> tensors) {
        if (owner == "model") saved = FakeState::number(tensors, "w");
      });
    }
    double saved = 0;
  } checkpointer;
  auto trainer = make_averaging_trainer();
  const train::FitOptions options{.epochs = 1, .stop = stopper.stop.get_token()};
  EXPECT_THROW((void)trainer.fit(options, FakeLoader{{1, -1}, 1}, stopper, checkpointer),
               train::Stopped);
  EXPECT_GT(checkpointer.saved, 0);
  EXPECT_EQ(trainer.optimizer().average, -1);
}

TEST(Trainer, StopsAnEvaluation) {
  struct Stopper {
    void on(const train::EvalStep& event) {
      EXPECT_EQ(event.split, "test");
      if (event.batch == 2) stop.request_stop();
      batches = event.batch;
    }
    std::stop_source stop = {};
    std::int64_t batches = 0;
  } stopper;
  auto trainer = make_trainer({1}, 1);
  const train::EvalPoint point{.split = "test", .stop = stopper.stop.get_token()};
  EXPECT_THROW((void)trainer.evaluate(FakeLoader{{1, 2, 3, 4}, 1}, point, stopper), train::Stopped);
  EXPECT_EQ(stopper.batches, 2);
}

TEST(Trainer, StopsPublishingBetweenTwoFiles) {
  struct Stopper : FakeSink {
    void put_file(std::string_view key, const std::filesystem::path& file) {
      FakeSink::put_file(key, file);
      stop.request_stop();
    }
    std::stop_source stop = {};
  };
  const TemporaryDirectory directory;
  for (const char* name : {"a", "b"}) write_file(directory / name, "weights");
  Trainer trainer{FakeModel{}, FakeSgd{0.01}, FakeLoader{{1}, 1}, Stopper{}};
  const auto stop = trainer.sink().stop.get_token();
  EXPECT_THROW(trainer.publish(directory.path(), {"a", "b"}, "run", stop), train::Stopped);
  EXPECT_EQ(trainer.sink().keys, (std::vector<std::string>{"run/a"}));
}

TEST(Trainer, TellsObserversWhatBecomesOfCheckpointsInItsSink) {
  struct Notes {
    void on(const train::Notice& notice) { texts.emplace_back(notice.text); }
    void on(const train::FitBegin& event) { begun_at = event.position.step; }
    std::vector<std::string> texts = {};
    std::int64_t begun_at = -1;
  };
  const TemporaryDirectory directory;
  for (const bool resumed : {false, true}) {
    Trainer trainer{FakeModel{}, FakeSgd{0.01}, FakeLoader{{1, 2, 3}, 1},
                    sink::Directory{directory.path()}};
    Notes notes;
    const train::FitOptions options{.epochs = 1, .checkpoint = {.every = 1}};
    EXPECT_EQ(trainer.fit(options, notes).steps, 3);
    EXPECT_EQ(notes.begun_at, resumed ? 3 : 0);
    ASSERT_EQ(notes.texts.size(), resumed ? 1U : 0U);
    if (resumed) {
      EXPECT_TRUE(notes.texts[0].starts_with("Resumed from")) << notes.texts[0];
    }
  }
}

}  // namespace
}  // namespace seqtrain
