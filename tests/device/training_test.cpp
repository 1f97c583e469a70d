#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/loader.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/adam_on_device.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/trainer.hpp>

#include "support/environment.hpp"
#include "support/fake_device.hpp"
#include "support/made_checkpoint.hpp"
#include "support/model_case.hpp"
#include "support/on_device.hpp"
#include "support/one_thread.hpp"
#include "support/problem_of.hpp"
#include "support/spoiled_model.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::difference;
using tests::fake_device;
using tests::MadeCheckpoint;

/// Compares two models' results of a batch: the losses, the logits and all gradients.
void expect_near(model::AnyClassifier& host, model::AnyClassifier& device, const data::Batch& batch,
                 double tolerance) {
  const auto loss = static_cast<double>(host.accumulate(batch, 1));
  EXPECT_NEAR(loss, static_cast<double>(device.accumulate(batch, 1)), tolerance);
  EXPECT_LT((host.logits(batch) - device.logits(batch)).cwiseAbs().maxCoeff(), tolerance);
  ASSERT_EQ(host.parameters().size(), device.parameters().size());
  for (std::size_t i = 0; i < host.parameters().size(); ++i) {
    const auto& [a, b] = std::pair{host.parameters()[i], device.parameters()[i]};
    ASSERT_EQ(a.gradient.defined(), b.gradient.defined()) << a.name;
    if (a.gradient.defined()) {
      EXPECT_LT(difference(a.gradient, b.gradient), tolerance) << a.name;
    }
  }
}

TEST(TrainingOnDevice, EachFamilyGivesTheProcessorsGradients) {
  const tests::OneThread one_thread;
  for (const auto& directory : tests::model_cases()) {
    SCOPED_TRACE(directory.filename());
    auto host = model::load_classifier(directory, {.dropout = 0, .autograd = true});
    auto device = model::load_classifier(directory, {.dropout = 0, .device = fake_device});
    expect_near(host, device, tests::ModelCase{directory}.batch(0), 2e-5);
  }
}

TEST(TrainingOnDevice, EachFamilyLearnsInBf16) {
  const tests::OneThread one_thread;
  for (const auto& directory : tests::model_cases()) {
    SCOPED_TRACE(directory.filename());
    const auto precision = model::Precision::bf16;
    auto host =
        model::load_classifier(directory, {.dropout = 0, .precision = precision, .autograd = true});
    auto device = model::load_classifier(
        directory, {.dropout = 0, .device = fake_device, .precision = precision});
    const auto batch = tests::ModelCase{directory}.batch(0);
    const auto loss = static_cast<double>(host.accumulate(batch, 1));
    EXPECT_NEAR(static_cast<double>(device.accumulate(batch, 1)), loss, 0.02 + 0.02 * loss);
  }
}

TEST(TrainingOnDevice, NoPassWaits) {
  const tests::OneThread one_thread;
  for (const auto& directory : tests::model_cases()) {
    SCOPED_TRACE(directory.filename());
    for (const auto precision : {model::Precision::fp32, model::Precision::fp16}) {
      auto model = model::load_classifier(
          directory, {.dropout = 0.1, .device = fake_device, .precision = precision});
      const auto batch = tests::ModelCase{directory}.batch(0);
      static_cast<void>(model.accumulate(batch, 1));
      tests::reset_device_counts();
      static_cast<void>(model.accumulate(batch, 1));
      EXPECT_EQ(tests::device_counts().waits, 0);
      EXPECT_LE(tests::device_counts().copies_to, 2);  // the batch, and DeBERTa's distances
      EXPECT_EQ(tests::device_counts().copies_from, 0);
    }
  }
}

data::EncodedSet made_rows(std::size_t count) {
  data::EncodedSet set{MadeCheckpoint::vocab_size, 1};
  random::Stream stream{4, random::Purpose::data};
  for (std::size_t row = 0; row < count; ++row) {
    std::vector<std::int32_t> ids(1 + stream.below(20));
    for (auto& id : ids) id = static_cast<std::int32_t>(stream.below(MadeCheckpoint::vocab_size));
    set.push_back(ids, stream.below(ids.size() + 1), static_cast<std::int32_t>(row % 3));
  }
  return set;
}

data::BucketLoader made_loader(std::size_t rows) {
  return data::BucketLoader{made_rows(rows), {.plan = {.batch_size = 4}, .seed = 7}};
}

/// What a fit left: the losses of its steps and the bytes of its parameters and moments.
struct Result {
  std::vector<double> losses = {};
  std::string bytes = {};
  train::FitReport report = {};
};

struct Losses {
  void on(const train::StepEnd& event) {
    result->losses.push_back(event.loss());
    if (event.step == stop_after) stop.request_stop();
  }
  void on(const train::StepSkipped& event) { skipped.push_back(event.step); }

  Result* result;
  std::int64_t stop_after = 0;
  std::stop_source stop = {};
  std::vector<std::int64_t> skipped = {};
};

class Fit : public testing::Test {
 protected:
  Result run(c10::Device device, train::FitOptions options = {}, std::int64_t stop_after = 0) {
    Trainer trainer{load(device),
                    optim::AdamW{{.lr = 1e-3, .weight_decay = 0.01, .on_device = kernel}},
                    made_loader(30), sink::Directory{place_}};
    if (const auto& scale = trainer.model().parameters().front().loss_scale) {
      scale->value.fill_(std::exp2(28));  // overflows in the first steps
      scale->growth_interval = 4;
    }
    Result result;
    Losses losses{&result, stop_after};
    options.max_grad_norm = 1;
    options.gradient_accumulation_steps = 2;
    options.stop = losses.stop.get_token();
    try {
      result.report = trainer.fit(options, made_loader(10), train::BestModel{}, losses);
    } catch (const train::Stopped&) {
      return result;
    }
    append(result, trainer.model().state_dict());
    append(result, trainer.optimizer().state());
    return result;
  }

  [[nodiscard]] model::AnyClassifier load(c10::Device device) const {
    return model::load_classifier(checkpoint_->path(), {.dropout = dropout,
                                                        .lora = lora,
                                                        .seed = 7,
                                                        .device = device,
                                                        .precision = precision,
                                                        .autograd = device.is_cpu()});
  }

  template <class State>
  static void append(Result& result, const State& state) {
    for (const auto& view : state.views()) {
      const auto* const begin = reinterpret_cast<const char*>(view.bytes.data());
      result.bytes.append(begin, view.bytes.size());
    }
  }

  /// Compares a run with one that stops and is resumed. Returns the report of the resumed run.
  train::FitReport expect_same_bits() {
    const tests::TemporaryDirectory place;
    place_ = place.path();
    const Result whole = run(fake_device, {.epochs = 5});
    const train::FitOptions options{.epochs = 5, .checkpoint = {.every = 2}};
    const Result begin = run(fake_device, options, 14);
    const Result rest = run(fake_device, options);
    EXPECT_EQ(begin.losses.size() + rest.losses.size(), whole.losses.size());
    EXPECT_EQ(rest.losses.back(), whole.losses.back());
    EXPECT_TRUE(rest.bytes == whole.bytes);
    EXPECT_EQ(rest.report.skipped_steps, whole.report.skipped_steps);
    return rest.report;
  }

  double dropout = 0;
  std::optional<model::LoRA> lora = {};
  std::shared_ptr<optim::AdamOnDevice> kernel = nullptr;
  model::Precision precision = model::Precision::fp32;
  tests::OneThread one_thread_;
  std::optional<MadeCheckpoint> checkpoint_{std::in_place, tests::MadeModel{.layers = 1}};
  tests::TemporaryDirectory directory_;
  std::filesystem::path place_ = directory_.path();
};

TEST_F(Fit, EqualsTheProcessors) {
  const Result host = run(c10::kCPU);
  const Result device = run(fake_device);
  ASSERT_EQ(host.losses.size(), device.losses.size());
  for (std::size_t i = 0; i < host.losses.size(); ++i) {
    EXPECT_NEAR(host.losses[i], device.losses[i], 1e-5) << i;
  }
  EXPECT_EQ(host.report.epoch_of_model, device.report.epoch_of_model);
  EXPECT_NEAR(host.report.dev.back().loss, device.report.dev.back().loss, 1e-5);
}

TEST_F(Fit, ResumesToTheSameBits) {
  dropout = 0.1;
  for (const auto given : {model::Precision::fp32, model::Precision::fp16}) {
    SCOPED_TRACE(name(given));
    precision = given;
    EXPECT_EQ(expect_same_bits().skipped_steps > 0, given == model::Precision::fp16);
  }
}

TEST_F(Fit, IsNearlyTheSameByTheKernelOfAdamAndResumesToTheSameBits) {
  dropout = 0.1;
  for (const auto given :
       {model::Precision::fp32, model::Precision::bf16, model::Precision::fp16}) {
    SCOPED_TRACE(name(given));
    precision = given;
    kernel = nullptr;
    const Result by_operators = run(fake_device);
    kernel = std::make_shared<optim::AdamOnDevice>(fake_device);
    const Result by_kernel = run(fake_device);
    ASSERT_EQ(by_kernel.losses.size(), by_operators.losses.size());
    double apart = 0;
    for (std::size_t i = 0; i < by_kernel.losses.size(); ++i) {
      apart = std::max(apart, std::abs(by_kernel.losses[i] - by_operators.losses[i]));
    }
    EXPECT_LT(apart, given == model::Precision::fp32 ? 1e-6 : 1e-3);
    RecordProperty("losses_apart_" + std::string{name(given)}, std::to_string(apart));
    EXPECT_EQ(by_kernel.report.skipped_steps, by_operators.report.skipped_steps);
    expect_same_bits();
  }
}

TEST_F(Fit, IsNearlyTheSameByTheKernelsOfNormsAndResumesToTheSameBits) {
  for (const auto given :
       {model::Precision::fp32, model::Precision::bf16, model::Precision::fp16}) {
    SCOPED_TRACE(name(given));
    precision = given;
    dropout = 0;
    const Result by_operators = run(fake_device);
    const tests::Environment asked{"SEQTRAIN_GPU_KERNELS", "layer_norm"};
    const Result by_kernels = run(fake_device);
    ASSERT_EQ(by_kernels.losses.size(), by_operators.losses.size());
    double apart = 0;
    for (std::size_t i = 0; i < by_kernels.losses.size(); ++i) {
      apart = std::max(apart, std::abs(by_kernels.losses[i] - by_operators.losses[i]));
    }
    EXPECT_LT(apart, given == model::Precision::fp32 ? 1e-5 : 5e-3);
    RecordProperty("losses_apart_" + std::string{name(given)}, std::to_string(apart));
    EXPECT_EQ(by_kernels.report.skipped_steps, by_operators.report.skipped_steps);
    dropout = 0.1;
    EXPECT_NE(run(fake_device).losses.back(), by_kernels.losses.back());
    expect_same_bits();
  }
}

TEST_F(Fit, HasEqualBitsByGraphsAndResumesToThem) {
  const auto expect_equal = [&](const std::string& others) {
    const tests::Environment without{"SEQTRAIN_GPU_KERNELS", others};
    kernel = optim::AdamOnDevice::make(fake_device, {});
    const Result by_operators = run(fake_device, {.epochs = 3});
    const tests::Environment asked{"SEQTRAIN_GPU_KERNELS", others + ",graphs"};
    tests::reset_device_counts();
    const Result by_graphs = run(fake_device, {.epochs = 3});
    EXPECT_GT(tests::device_counts().replays, 20);
    EXPECT_EQ(by_graphs.losses, by_operators.losses);
    EXPECT_TRUE(by_graphs.bytes == by_operators.bytes);
    EXPECT_EQ(by_graphs.report.skipped_steps, by_operators.report.skipped_steps);
  };
  for (const auto given :
       {model::Precision::fp32, model::Precision::bf16, model::Precision::fp16}) {
    SCOPED_TRACE(name(given));
    precision = given;
    for (const double rate : {0.0, 0.1}) {
      dropout = rate;
      expect_equal("");
      expect_equal("adam,layer_norm");
    }
    const tests::Environment asked{"SEQTRAIN_GPU_KERNELS", "graphs"};
    expect_same_bits();
  }
}

using SlowFit = Fit;

TEST_F(SlowFit, ResumesEachFamilyAndAdaptersToTheSameBits) {
  dropout = 0.1;
  precision = model::Precision::bf16;
  const char* const windows = R"("local_attention": 8, "layer_types": ["full_attention",
                                                                       "sliding_attention"])";
  const char* const distances = R"("relative_attention": true, "pos_att_type": "c2p|p2c",
                                   "position_buckets": 16, "type_vocab_size": 0)";
  const std::vector<tests::MadeModel> models{{.family = "bert"},
                                             {.family = "albert"},
                                             {.family = "modernbert", .more = windows},
                                             {.family = "mpnet"},
                                             {.family = "deberta-v2", .more = distances}};
  for (const auto& made : models) {
    checkpoint_.emplace(made);
    for (const bool adapters : {false, true}) {
      if (adapters && made.family != "bert" && made.family != "mpnet") continue;
      SCOPED_TRACE(made.family + (adapters ? " with adapters" : ""));
      lora.reset();
      if (adapters) lora = model::LoRA{.rank = 2, .alpha = 4, .dropout = 0.1};
      expect_same_bits();
    }
  }
}

TEST_F(Fit, SkipsAStepWhoseGradientsAreNotFiniteOrStopsThere) {
  const auto fit = [&](train::OnNonfinite policy) {
    Trainer trainer{tests::SpoiledModel{load(fake_device), 3, 1}, optim::Adam{}, made_loader(30),
                    sink::Discard{}};
    Result result;
    Losses losses{&result};
    result.report = trainer.fit({.epochs = 1, .on_nonfinite = policy}, losses);
    EXPECT_EQ(losses.skipped, (std::vector<std::int64_t>{3}));
    return result;
  };
  const Result skipped = fit(train::OnNonfinite::skip);
  EXPECT_EQ(skipped.report.skipped_steps, 1);
  EXPECT_TRUE(std::isfinite(skipped.losses.back()));
  const auto problem = tests::problem_of([&] { fit(train::OnNonfinite::stop); });
  EXPECT_NE(problem.find("step 3"), std::string::npos) << problem;
  EXPECT_NE(problem.find("is not finite"), std::string::npos) << problem;
}

TEST_F(Fit, ACheckpointWaitsOnceForTheDevice) {
  struct Checkpointer {
    std::optional<train::SavedFit> restore(const train::FitPlan&) { return {}; }
    void save(train::Moment moment, const train::FitView& fit) {
      if (moment != train::Moment::step) return;
      tests::reset_device_counts();
      std::size_t tensors = 0;
      fit.tensors([&](auto, auto views) { tensors += views.size(); });
      waits.push_back(tests::device_counts().waits);
      EXPECT_EQ(tests::device_counts().copies_from, static_cast<std::int64_t>(tensors));
    }
    std::vector<std::int64_t> waits = {};
  } checkpointer;
  Trainer trainer{load(fake_device), optim::Adam{}, made_loader(24), sink::Discard{}};
  trainer.fit({.epochs = 1}, checkpointer);
  EXPECT_EQ(checkpointer.waits, std::vector<std::int64_t>(7, 1));  // after 6 steps and the epoch
}

TEST_F(Fit, NoStepWaitsIfNothingIsLogged) {
  struct Waits {
    void on(const train::StepEnd&) { counts.push_back(tests::device_counts()); }
    std::vector<tests::DeviceCounts> counts = {};
  } waits;
  precision = model::Precision::fp16;
  Trainer trainer{load(fake_device), optim::Adam{}, made_loader(40), sink::Discard{}};
  trainer.fit({.epochs = 1, .max_grad_norm = 1}, waits);
  ASSERT_EQ(waits.counts.size(), 10U);
  EXPECT_EQ(waits.counts.back().waits, waits.counts[1].waits);
  // The labels and tokens of a batch in one piece, and the norms of the gradients.
  EXPECT_EQ(waits.counts.back().copies_to - waits.counts[1].copies_to, 8);
  EXPECT_EQ(waits.counts.back().copies_from - waits.counts[1].copies_from, 8);
}

}  // namespace
}  // namespace seqtrain
