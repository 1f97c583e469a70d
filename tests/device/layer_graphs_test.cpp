#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/out_of_memory.hpp>
#include <seqtrain/model/packed/layer_graphs.hpp>
#include <seqtrain/model/precision.hpp>

#include "support/environment.hpp"
#include "support/fake_device.hpp"
#include "support/made_checkpoint.hpp"
#include "support/model_case.hpp"
#include "support/on_device.hpp"
#include "support/one_thread.hpp"

namespace seqtrain {
namespace {

using model::packed::LayerGraphs;
using tests::fake_device;

constexpr const char* kernels = "SEQTRAIN_GPU_KERNELS";

model::AnyClassifier load(const std::filesystem::path& directory, double dropout = 0.3,
                          model::Precision precision = model::Precision::bf16) {
  auto model = model::load_classifier(
      directory, {.dropout = dropout, .seed = 3, .device = fake_device, .precision = precision});
  if (const auto& scale = model.parameters().front().loss_scale) scale->value.fill_(1);
  return model;
}

model::AnyClassifier load_with(const std::string& names, const std::filesystem::path& directory,
                               double dropout = 0.3,
                               model::Precision precision = model::Precision::bf16) {
  const tests::Environment asked{kernels, names};
  return load(directory, dropout, precision);
}

/// Returns a batch of rows with these lengths and without padding's id. The index decides its words
/// and its dropout.
data::Batch batch_of(const std::vector<std::int32_t>& lengths, std::int64_t index) {
  data::Batch batch;
  batch.index = index;
  batch.rows = static_cast<std::int64_t>(lengths.size());
  batch.width = *std::ranges::max_element(lengths);
  batch.lengths = lengths;
  for (std::int64_t i = 0; i < batch.rows * batch.width; ++i) {
    batch.input_ids.push_back(static_cast<std::int32_t>(5 + (i * 7 + index) % 13));
    batch.token_type_ids.push_back(0);
  }
  for (std::int64_t row = 0; row < batch.rows; ++row) batch.labels.push_back((row + index) % 2);
  return batch;
}

std::int64_t replays_of(const std::function<void()>& work) {
  const std::int64_t before = tests::device_counts().replays;
  work();
  return tests::device_counts().replays - before;
}

void expect_equal_gradients(const model::AnyClassifier& a, const model::AnyClassifier& b) {
  ASSERT_EQ(a.parameters().size(), b.parameters().size());
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    const at::Tensor &x = a.parameters()[i].gradient, &y = b.parameters()[i].gradient;
    if (x.defined()) {
      EXPECT_TRUE(x.cpu().equal(y.cpu())) << a.parameters()[i].name;
    }
  }
}

/// Compares two models' steps of batches whose sizes come and go, which add to the gradients, and
/// answers between them.
void expect_equal_steps(model::AnyClassifier& by_operators, model::AnyClassifier& by_graphs,
                        const std::vector<std::vector<std::int32_t>>& sizes, std::int64_t rounds) {
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto batch = batch_of(sizes[i], 100 * round + static_cast<std::int64_t>(i));
      EXPECT_EQ(static_cast<double>(by_operators.accumulate(batch, 0.5)),
                static_cast<double>(by_graphs.accumulate(batch, 0.5)));
      EXPECT_TRUE(by_operators.logits(batch) == by_graphs.logits(batch));
    }
    expect_equal_gradients(by_operators, by_graphs);
    for (auto* const model : {&by_operators, &by_graphs}) {
      for (const auto& parameter : model->parameters()) {
        if (parameter.gradient.defined()) parameter.value.detach().add_(parameter.gradient, -0.01);
      }
    }
  }
}

/// The first two make one size of graphs. Others fit only models with more positions.
const std::vector<std::vector<std::int32_t>> some_sizes{
    {9, 3, 12}, {7, 12, 11}, {60, 1}, {30, 30, 30, 30}, {70, 3}};

class LayersByGraphs : public testing::Test {
 protected:
  [[nodiscard]] static std::filesystem::path bert() {
    return tests::small_model("bert_gelu").directory();
  }

  tests::OneThread one_thread_;
};

TEST_F(LayersByGraphs, HaveTheBitsOfOperators) {
  const char* const whole = R"("layer_types": ["full_attention", "full_attention"])";
  for (const tests::MadeModel& made :
       {tests::MadeModel{}, {.family = "albert"}, {.family = "modernbert", .more = whole}}) {
    const tests::MadeCheckpoint checkpoint{made};
    for (const auto precision :
         {model::Precision::fp32, model::Precision::bf16, model::Precision::fp16}) {
      for (const double dropout : {0.0, 0.3}) {
        for (const std::string others : {"", "layer_norm"}) {
          SCOPED_TRACE(made.family + " " + std::string{model::name(precision)} + " " + others);
          auto by_operators = load_with(others, checkpoint.path(), dropout, precision);
          auto by_graphs = load_with(others + ",graphs", checkpoint.path(), dropout, precision);
          const std::vector<std::vector<std::int32_t>> two(some_sizes.begin(),
                                                           some_sizes.begin() + 2);
          const auto replays =
              replays_of([&] { expect_equal_steps(by_operators, by_graphs, two, 3); });
          EXPECT_EQ(replays, 12);  // the two have one size, which comes six times
        }
      }
    }
  }
}

TEST_F(LayersByGraphs, HaveTheBitsOfOperatorsForAnySizes) {
  const char* const windows = R"("local_attention": 8, "layer_types": ["full_attention",
                                                                       "sliding_attention"])";
  for (const tests::MadeModel& made :
       {tests::MadeModel{.family = "bert"}, {.family = "modernbert", .more = windows}}) {
    SCOPED_TRACE(made.family);
    const tests::MadeCheckpoint checkpoint{made};
    auto by_operators = load_with("", checkpoint.path());
    auto by_graphs = load_with("graphs", checkpoint.path());
    const auto replays =
        replays_of([&] { expect_equal_steps(by_operators, by_graphs, some_sizes, 5); });
    EXPECT_GE(replays, 3 * 3 * 4);
  }
}

TEST_F(LayersByGraphs, TakeAdapters) {
  const auto load_adapters = [&](const std::string& names) {
    const tests::Environment asked{kernels, names};
    return model::load_classifier(bert(),
                                  {.dropout = 0.3,
                                   .lora = model::LoRA{.rank = 2, .alpha = 2, .dropout = 0.3},
                                   .seed = 3,
                                   .device = fake_device,
                                   .precision = model::Precision::bf16});
  };
  auto by_operators = load_adapters(""), by_graphs = load_adapters("graphs");
  const auto replays =
      replays_of([&] { expect_equal_steps(by_operators, by_graphs, {some_sizes[0]}, 5); });
  EXPECT_EQ(replays, 9);
}

/// Returns a line for the log about a model.
std::string said_of(const std::filesystem::path& directory) {
  return load_with("graphs", directory, 0).own_kernels();
}

TEST_F(LayersByGraphs, AreNamedInALineOfTheLog) {
  EXPECT_EQ(said_of(bert()), "The layers' passes are graphs on fake:0");
  EXPECT_EQ(
      load_with("layer_norm,graphs", bert()).own_kernels(),
      "Layer norms are kernels of our own on fake:0\nThe layers' passes are graphs on fake:0");
  for (const char* const name : {"deberta_v3", "mpnet", "deberta_convolution"}) {
    EXPECT_EQ(said_of(tests::small_model(name).directory()),
              "the layers' operators are started one by one: scores with a bias and convolutions "
              "cannot be captured")
        << name;
  }
  const tests::Environment none{"SEQTRAIN_FAKE_HAS_NO_GRAPHS", "1"};
  EXPECT_EQ(said_of(bert()),
            "the layers' operators are started one by one: fake:0: graphs are for GPUs of NVIDIA");
}

TEST_F(LayersByGraphs, AreNotUsedIfGradientsAreExchangedMeanwhile) {
  auto by_operators = load_with("", bert()), by_graphs = load_with("graphs", bert());
  const auto batch = batch_of(some_sizes[0], 1);
  const auto replays = replays_of([&] {
    for (int i = 0; i < 4; ++i) {
      const auto loss = by_operators.accumulate(batch, 1, [](std::size_t) {});
      EXPECT_EQ(static_cast<double>(loss),
                static_cast<double>(by_graphs.accumulate(batch, 1, [](std::size_t) {})));
    }
  });
  EXPECT_EQ(replays, 0);
  expect_equal_gradients(by_operators, by_graphs);
}

TEST_F(LayersByGraphs, FollowAGradientThatIsReplaced) {
  auto by_operators = load_with("", bert()), by_graphs = load_with("graphs", bert());
  for (int round = 0; round < 2; ++round) {
    const auto replays =
        replays_of([&] { expect_equal_steps(by_operators, by_graphs, {some_sizes[0]}, 4); });
    EXPECT_EQ(replays, 2 * 3);
    for (auto* const model : {&by_operators, &by_graphs}) {
      for (const auto& parameter : model->parameters()) {
        if (parameter.name.find("LayerNorm") == std::string::npos) continue;
        at::Tensor value = parameter.value;
        value.mutable_grad() = at::zeros_like(value.grad());
      }
    }
  }
  const auto gradients = [](const model::AnyClassifier& model) {
    std::vector<at::Tensor> all;
    for (const auto& parameter : model.parameters()) {
      if (parameter.name.find("LayerNorm") != std::string::npos)
        all.push_back(parameter.value.grad());
    }
    return all;
  };
  expect_equal_steps(by_operators, by_graphs, {some_sizes[0]}, 4);
  const auto a = gradients(by_operators), b = gradients(by_graphs);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(tests::difference(a[i], b[i]), 0);
}

TEST_F(LayersByGraphs, FollowChangedParameters) {
  auto by_operators = load_with("", bert()), by_graphs = load_with("graphs", bert());
  const auto batch = batch_of(some_sizes[0], 1);
  for (int i = 0; i < 3; ++i) static_cast<void>(by_graphs.logits(batch));
  for (auto* const model : {&by_operators, &by_graphs}) {
    for (const auto& parameter : model->parameters()) parameter.value.detach().mul_(2);
  }
  const auto replays =
      replays_of([&] { EXPECT_TRUE(by_operators.logits(batch) == by_graphs.logits(batch)); });
  EXPECT_EQ(replays, 1);
}

TEST_F(LayersByGraphs, LeaveAUsableModelIfThereIsTooLittleMemory) {
  std::vector<bool> fails;
  for (std::int64_t bytes = 1 << 12; bytes <= 1 << 22; bytes *= 2) {
    SCOPED_TRACE(bytes);
    auto by_operators = load_with("", bert()), by_graphs = load_with("graphs", bert());
    const tests::Environment little{"SEQTRAIN_FAKE_GRAPH_BYTES", std::to_string(bytes)};
    const auto batch = batch_of(some_sizes[0], 1);
    for (int i = 0; i < 2; ++i) static_cast<void>(by_graphs.accumulate(batch, 0.5));
    try {
      static_cast<void>(by_graphs.accumulate(batch, 0.5));
      fails.push_back(false);
    } catch (const model::OutOfMemory&) {
      fails.push_back(true);
    }
    for (int i = 0; i < 2 + !fails.back(); ++i) {
      static_cast<void>(by_operators.accumulate(batch, 0.5));
    }
    expect_equal_gradients(by_operators, by_graphs);
    const std::vector<std::vector<std::int32_t>> another{{9}};
    expect_equal_steps(by_operators, by_graphs, another, 2);
  }
  EXPECT_TRUE(fails.front());
  EXPECT_FALSE(fails.back());
}

TEST_F(LayersByGraphs, AreMadeForSoManySizes) {
  auto model = load_with("graphs", bert(), 0);
  const auto of = [](std::int64_t rows) {
    return batch_of(std::vector<std::int32_t>(static_cast<std::size_t>(rows), 3), 1);
  };
  const auto answer = [&](std::int64_t rows) {
    return replays_of([&] { static_cast<void>(model.logits(of(rows))); });
  };
  const auto sizes = static_cast<std::int64_t>(LayerGraphs::most_graphs);
  for (std::int64_t rows = 1; rows <= sizes + 1; ++rows) {
    EXPECT_EQ(answer(rows) + answer(rows), 0);
    EXPECT_EQ(answer(rows), rows <= sizes ? 1 : 0);
  }
  EXPECT_EQ(answer(1), 1);
  const auto step = [&] {
    return replays_of([&] { static_cast<void>(model.accumulate(of(1), 1)); });
  };
  EXPECT_EQ(step() + step(), 0);
  EXPECT_EQ(step(), 2);
}

TEST_F(LayersByGraphs, HandOutStatesThatLaterBatchesLeaveAlone) {
  auto model = load_with("graphs", bert(), 0);
  const auto first = batch_of({4, 4}, 1), second = batch_of({4, 4}, 5);
  for (int i = 0; i < 3; ++i) static_cast<void>(model.hidden(first));
  const at::Tensor states = model.hidden(first), before = states.cpu();
  static_cast<void>(model.hidden(second));
  EXPECT_TRUE(states.cpu().equal(before));
}

/// Returns how many operators, kernels and replays a training step of BERT with 6 layers asks for.
std::int64_t operators_of_a_step(const std::string& names) {
  const tests::MadeCheckpoint checkpoint{{.layers = 6}};
  auto model = load_with(names, checkpoint.path(), 0.1);
  const auto step = [&] { static_cast<void>(model.accumulate(batch_of(some_sizes[0], 1), 1)); };
  for (int i = 0; i < 3; ++i) step();
  tests::reset_device_counts();
  step();
  EXPECT_EQ(tests::device_counts().waits, 0);
  EXPECT_EQ(tests::device_counts().copies_to, 1);
  return tests::device_counts().operators;
}

TEST_F(LayersByGraphs, StartFewOperators) {
  for (const std::string others : {"", "layer_norm"}) {
    const auto by_operators = operators_of_a_step(others);
    const auto by_graphs = operators_of_a_step(others + ",graphs");
    EXPECT_LE(by_graphs, 80);
    EXPECT_GE(by_operators, 230);
    RecordProperty("operators" + others,
                   std::to_string(by_graphs) + " of " + std::to_string(by_operators));
  }
}

}  // namespace
}  // namespace seqtrain
