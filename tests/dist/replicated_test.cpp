#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <support/dist_worlds.hpp>
#include <support/made_checkpoint.hpp>
#include <support/one_thread.hpp>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/loss_alone.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/tensor/operators.hpp>
#include <seqtrain/tensor/threads.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/trainer.hpp>

namespace seqtrain::dist {
namespace {

data::EncodedSet some_rows(std::size_t count) {
  data::EncodedSet set{tests::MadeCheckpoint::vocab_size, 1};
  const random::Stream stream{3, random::Purpose::data, std::uint64_t{0}};
  for (std::uint64_t row = 0; row < count; ++row) {
    std::vector<std::int32_t> ids(3 + stream.at(row * 100) % 40);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<std::int32_t>(2 + stream.at(row * 100 + i + 1) % 100);
    }
    set.push_back(ids, ids.size() / 2, static_cast<std::int32_t>(row % 3));
  }
  return set;
}

struct Settings {
  std::int64_t replicas = 4;
  std::int64_t accumulation = 1;
  model::Precision precision = model::Precision::fp32;
  bool autograd = false;
  std::int64_t max_steps = 0;
};

/// The results of a run on one rank.
struct Result {
  std::string weights;  ///< bytes of the model and of the optimizer's state
  std::vector<double> losses;
  metrics::ClassificationReport dev;

  friend bool operator==(const Result& a, const Result& b) {
    return a.weights == b.weights && a.losses == b.losses && a.dev.loss == b.dev.loss &&
           a.dev.confusion == b.dev.confusion;
  }
};

class Losses {
 public:
  explicit Losses(std::vector<double>& losses) : losses_{&losses} {}
  void on(const train::StepEnd& event) { losses_->push_back(event.loss()); }

 private:
  std::vector<double>* losses_;
};

Result run(const std::filesystem::path& checkpoint, const World& world, const Settings& settings) {
  tensor::set_threads(1);  // The results of operators depend on the number of threads.
  auto group = Group::connect(world);
  Replicated model{model::load_classifier(checkpoint, {.dropout = 0.1,
                                                       .seed = 7,
                                                       .precision = settings.precision,
                                                       .autograd = settings.autograd}),
                   group,
                   {.replicas = settings.replicas, .accumulation = settings.accumulation}};
  const auto together = static_cast<std::size_t>(settings.replicas * settings.accumulation);
  data::BucketLoader train{
      some_rows(75),
      {.plan = {.batch_size = 4, .batches_together = together}, .seed = 7, .shard = model.shard()}};
  data::BucketLoader dev{some_rows(50),
                         {.plan = {.batch_size = 3}, .shard = model.evaluation_shard()}};
  Trainer trainer{std::move(model), optim::Adam{{.lr = 1e-3}}, std::move(train), sink::Discard{}};
  Result result;
  Losses losses{result.losses};
  const auto report =
      trainer.fit({.epochs = 2,
                   .max_steps = settings.max_steps,
                   .gradient_accumulation_steps = settings.replicas * settings.accumulation,
                   .max_grad_norm = 1},
                  dev, losses);
  result.dev = report.dev.back();
  const auto append = [&](const auto& state) {
    for (const auto& tensor : state.views()) {
      result.weights.append(reinterpret_cast<const char*>(tensor.bytes.data()),
                            tensor.bytes.size());
    }
  };
  append(trainer.model().state_dict());
  append(trainer.optimizer().state());
  return result;
}

void expect_equal_at_any_number_of_ranks(const Settings& settings) {
  const tests::OneThread one_thread;
  const tests::MadeCheckpoint checkpoint;
  const Result alone = run(checkpoint.path(), {}, settings);
  EXPECT_FALSE(alone.losses.empty());
  for (int ranks = 2; ranks <= settings.replicas; ++ranks) {
    std::vector<Result> results(static_cast<std::size_t>(ranks));
    const auto errors = tests::on_threads(tests::local_worlds(ranks), [&](const World& world) {
      results[static_cast<std::size_t>(world.rank)] = run(checkpoint.path(), world, settings);
    });
    EXPECT_EQ(errors, std::vector<std::string>(errors.size()));
    for (const Result& result : results) EXPECT_TRUE(result == alone) << ranks << " ranks";
  }
}

TEST(Replicated, TrainsToTheSameBitsAtAnyNumberOfRanks) {
  expect_equal_at_any_number_of_ranks({});
}

TEST(Replicated, DoesSoInBf16WithAccumulation) {
  expect_equal_at_any_number_of_ranks(
      {.replicas = 3, .accumulation = 2, .precision = model::Precision::bf16});
}

TEST(Replicated, DoesSoByOperators) {
  expect_equal_at_any_number_of_ranks({.replicas = 2, .autograd = true});
}

/// The distance of a row's states from the mean of its batch.
struct Spread {
  at::Tensor operator()(const at::Tensor& states, const tensor::Batch&) const {
    return (states - states.mean(0, true)).square().mean(1);
  }
};

TEST(Replicated, ScoresAModelByItsLossAtAnyNumberOfRanks) {
  const tests::OneThread one_thread;
  const tests::MadeCheckpoint checkpoint;
  const auto losses_at = [&](const World& world) {
    tensor::set_threads(1);
    auto group = Group::connect(world);
    Replicated model{
        model::LossAlone{model::load_classifier(checkpoint.path(), {.head = model::no_head()}),
                         Spread{}},
        group,
        {.replicas = 4}};
    using Tested = decltype(model);
    static_assert(ScoredByLoss<Tested> && Restorable<Tested> && !Classifier<Tested>);
    data::BucketLoader dev{some_rows(50),
                           {.plan = {.batch_size = 3}, .shard = model.evaluation_shard()}};
    const auto report = train::evaluate(model, dev, {.split = "dev"});
    EXPECT_EQ(report.examples, 50);
    return report.loss;
  };
  const double alone = losses_at({});
  EXPECT_GT(alone, 0);
  for (const int ranks : {2, 3}) {
    std::vector<double> losses(static_cast<std::size_t>(ranks));
    const auto errors = tests::on_threads(tests::local_worlds(ranks), [&](const World& world) {
      losses[static_cast<std::size_t>(world.rank)] = losses_at(world);
    });
    EXPECT_EQ(errors, std::vector<std::string>(errors.size()));
    EXPECT_EQ(losses, std::vector<double>(losses.size(), alone));
  }
}

TEST(Replicated, WithOneReplicaIsTheModel) {
  const tests::MadeCheckpoint checkpoint;
  const Settings settings{.replicas = 1, .accumulation = 3};
  const Result result = run(checkpoint.path(), {}, settings);
  Trainer trainer{model::load_classifier(checkpoint.path(), {.dropout = 0.1, .seed = 7}),
                  optim::Adam{{.lr = 1e-3}},
                  data::BucketLoader{some_rows(75),
                                     {.plan = {.batch_size = 4, .batches_together = 3}, .seed = 7}},
                  sink::Discard{}};
  std::vector<double> expected;
  Losses losses{expected};
  trainer.fit({.epochs = 2, .gradient_accumulation_steps = 3, .max_grad_norm = 1}, losses);
  EXPECT_EQ(result.losses, expected);
}

TEST(Replicated, RefusesMoreRanksThanReplicas) {
  const tests::MadeCheckpoint checkpoint;
  const auto errors = tests::on_threads(tests::local_worlds(2), [&](const World& world) {
    auto group = Group::connect(world);
    Replicated model{model::load_classifier(checkpoint.path()), group, {.replicas = 1}};
  });
  for (const std::string& error : errors) {
    EXPECT_EQ(error,
              "replicas: 2 processes cannot share 1 replicas; start at most as many processes, or "
              "begin a run with more replicas");
  }
}

TEST(Replicated, StopsAllRanksAfterTheSameStep) {
  const tests::MadeCheckpoint checkpoint;
  std::vector<std::int64_t> steps(3, -1);
  const auto errors = tests::on_threads(tests::local_worlds(3), [&](const World& world) {
    auto group = Group::connect(world);
    std::stop_source own;
    Replicated model{model::load_classifier(checkpoint.path()),
                     group,
                     {.replicas = 3, .own_stop = own.get_token()}};
    const auto stop = model.stop();
    data::BucketLoader loader{some_rows(75), {.plan = {.batch_size = 4}, .shard = model.shard()}};
    Trainer trainer{std::move(model), optim::Adam{}, std::move(loader), sink::Discard{}};
    struct Stops {
      const World& world;
      std::stop_source& own;
      std::int64_t& last;
      void on(const train::StepEnd& event) {
        last = event.step;
        if (world.rank == 1 && event.step == 2) own.request_stop();
      }
    } stops{world, own, steps[static_cast<std::size_t>(world.rank)]};
    trainer.fit({.epochs = 2, .gradient_accumulation_steps = 3, .stop = stop}, stops);
  });
  EXPECT_EQ(errors, std::vector<std::string>(3, "stopped after step 3 of 14"));
  EXPECT_EQ(steps, (std::vector<std::int64_t>{3, 3, 3}));
}

}  // namespace
}  // namespace seqtrain::dist
