#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/low_rank.hpp>
#include <seqtrain/model/cpu/weight_gradients.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/threads.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/safetensors.hpp>

#include "support/made_checkpoint.hpp"
#include "support/one_thread.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

using tests::MadeCheckpoint;
using tests::MadeModel;

struct AdaptedCase {
  MadeModel model;
  Precision precision;
  LoRA lora = {};

  friend std::ostream& operator<<(std::ostream& out, const AdaptedCase& test) {
    return out << test.model.family << " rank " << test.lora.rank << " "
               << test.lora.targets.front() << (test.precision == Precision::bf16 ? " bf16" : "");
  }
};

/// Gives A and B values that are not those of the beginning, where B is 0.
void move_adapters(const AnyClassifier& model) {
  const at::NoGradGuard no_gradients;
  std::uint64_t number = 0;
  for (const auto& parameter : model.parameters()) {
    if (parameter.name.find("lora_") == std::string::npos) continue;
    const auto generator = tensor::make_generator(++number, c10::Device{c10::kCPU});
    parameter.value.normal_(0, 0.1, generator);
  }
}

double relative_gap(const at::Tensor& a, const at::Tensor& b) {
  return a.sub(b).norm().item<double>() / (b.norm().item<double>() + 1e-6);
}

/// The hand-written backend with adapters beside autograd on operators in fp32, dropout off.
class Adapters : public testing::TestWithParam<AdaptedCase> {
 protected:
  [[nodiscard]] AnyClassifier load(bool autograd, double dropout = 0, double of_inputs = 0) const {
    LoRA lora = GetParam().lora;
    lora.dropout = of_inputs;
    auto model = load_classifier(checkpoint_.path(),
                                 {.dropout = dropout,
                                  .lora = lora,
                                  .seed = 3,
                                  .precision = autograd ? Precision::fp32 : GetParam().precision,
                                  .autograd = autograd});
    move_adapters(model);
    return model;
  }
  [[nodiscard]] double limit(double bf16, double fp32) const {
    const bool large = GetParam().model.family == "modernbert";
    return (GetParam().precision == Precision::bf16 ? bf16 : fp32) * (large ? 5 : 1);
  }

  tests::OneThread one_thread_;
  MadeCheckpoint checkpoint_{GetParam().model};
};

TEST_P(Adapters, LogitsAndGradientsAreAutograds) {
  auto kernels = load(false);
  auto autograd = load(true);
  ASSERT_TRUE(kernels.has_kernels());
  const auto batch = MadeCheckpoint::batch(0);
  const auto gap = (kernels.logits(batch) - autograd.logits(batch)).cwiseAbs().maxCoeff();
  EXPECT_LT(gap, limit(3e-2, 3e-5));
  (void)kernels.accumulate(batch, 1);
  (void)autograd.accumulate(batch, 1);
  ASSERT_EQ(kernels.parameters().size(), autograd.parameters().size());
  for (std::size_t i = 0; i < kernels.parameters().size(); ++i) {
    const auto& parameter = kernels.parameters()[i];
    const auto& expected = autograd.parameters()[i].gradient;
    EXPECT_LT(relative_gap(parameter.gradient, expected), limit(6e-2, 2e-4)) << parameter.name;
  }
}

TEST_P(Adapters, MergedComputesTheSame) {
  auto model = load(false);
  const tests::TemporaryDirectory directory;
  model.save_pretrained(directory.path());
  auto whole = load_classifier(directory.path(), {.dropout = 0, .precision = GetParam().precision});
  EXPECT_GT(whole.parameters().size(), 8U);
  for (const std::int64_t rows : {1, 13}) {
    const auto batch = MadeCheckpoint::batch(1, rows);
    const auto gap = (model.logits(batch) - whole.logits(batch)).cwiseAbs().maxCoeff();
    EXPECT_LT(gap, limit(4e-2, 3e-5));
  }
}

TEST_P(Adapters, HaveTheSameBitsAtAnyNumberOfThreads) {
  for (const std::int64_t rows : {3, 13, 200}) {  // the threads share the products of few rows
    std::vector<at::Tensor> expected;
    for (const int threads : {1, 2, 50}) {
      tensor::set_threads(threads);
      auto model = load(false, 0.2, 0.1);
      (void)model.accumulate(MadeCheckpoint::batch(4, rows), 1);
      std::size_t next = 0;
      for (const auto& parameter : model.parameters()) {
        if (parameter.name.find("lora_") == std::string::npos) continue;
        if (threads == 1) expected.push_back(parameter.gradient.clone());
        EXPECT_TRUE(parameter.gradient.equal(expected[next++]))
            << parameter.name << ", " << rows << " rows, " << threads << " threads";
      }
    }
  }
}

/// Compares the norm of the adapters' gradients with the slope of the loss in their direction.
void expect_slope(AnyClassifier model, double limit) {
  const auto batch = MadeCheckpoint::batch(3);
  (void)model.accumulate(batch, 1);
  std::vector<at::Tensor> values, gradients;
  double squares = 0;
  for (const auto& parameter : model.parameters()) {
    if (parameter.name.find("lora_") == std::string::npos) continue;
    values.push_back(parameter.value);
    gradients.push_back(parameter.gradient.clone());
    squares += gradients.back().square().sum().item<double>();
  }
  const double norm = std::sqrt(squares);
  const auto loss_after = [&](double step) {
    const at::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < values.size(); ++i) values[i].add_(gradients[i], step / norm);
    return static_cast<double>(model.accumulate(batch, 1));
  };
  // The loss changes by 1e-4, a thousand times its rounding and where it is hardly curved.
  const double step = std::min(2e-3, 1e-4 / norm);
  const double above = loss_after(step);
  EXPECT_NEAR((above - loss_after(-2 * step)) / (2 * step) / norm, 1, limit);
}

TEST_P(Adapters, GradientsWithDropoutOfInputsAreTheSlopeOfTheLoss) {
  if (GetParam().precision == Precision::fp32) expect_slope(load(false, 0, 0.3), 2e-2);
  expect_slope(load(true, 0, 0.3), 2e-2);
  auto with = load(false, 0, 0.3);
  auto without = load(false);
  const auto batch = MadeCheckpoint::batch(3);
  EXPECT_EQ(with.logits(batch), without.logits(batch));
  EXPECT_NE(static_cast<double>(with.accumulate(batch, 1)),
            static_cast<double>(without.accumulate(batch, 1)));
}

TEST_P(Adapters, GradientsAreCompleteWhenTheModelSaysSo) {
  auto model = load(false);
  std::vector<at::Tensor> claimed(model.parameters().size());
  (void)model.accumulate(MadeCheckpoint::batch(0), 1, [&](std::size_t first) {
    for (std::size_t i = first; i < claimed.size(); ++i) {
      if (!claimed[i].defined()) claimed[i] = model.parameters()[i].gradient.clone();
    }
  });
  EXPECT_TRUE(claimed.back().defined());
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    if (!claimed[i].defined()) continue;
    EXPECT_TRUE(claimed[i].equal(model.parameters()[i].gradient)) << model.parameters()[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, Adapters,
    testing::Values(
        AdaptedCase{{}, Precision::fp32}, AdaptedCase{{}, Precision::bf16},
        AdaptedCase{{}, Precision::fp32, {.rank = 40, .targets = {"query", "output.dense"}}},
        AdaptedCase{{}, Precision::bf16, {.rank = 3, .alpha = 5, .targets = {"attention"}}},
        AdaptedCase{{"roberta", "gelu_new", 3, 128, 2, 192},
                    Precision::fp32,
                    {.rank = 16, .rank_stabilised = true, .targets = {"key", "value"}}},
        AdaptedCase{{"xlm-roberta", "gelu", 2, 64, 4, 128}, Precision::fp32},
        AdaptedCase{{"camembert", "gelu", 1, 64, 2, 128}, Precision::fp32},
        AdaptedCase{{"distilbert", "relu", 3, 128, 2, 192}, Precision::fp32},
        AdaptedCase{{"electra", "gelu", 2, 128, 4, 64, R"("embedding_size": 64)"}, Precision::fp32},
        AdaptedCase{{"albert", "gelu", 4, 64, 4, 64,
                     R"("embedding_size": 64, "num_hidden_groups": 2, "inner_group_num": 2)"},
                    Precision::fp32},
        AdaptedCase{{"nomic_bert", "silu", 2, 128, 4, 64}, Precision::fp32},
        AdaptedCase{{"gte", "gelu", 2, 64, 2, 128}, Precision::fp32},
        AdaptedCase{{"roformer", "gelu", 2, 64, 2, 128}, Precision::fp32},
        AdaptedCase{{"megatron-bert", "gelu", 2, 64, 4, 128}, Precision::fp32},
        AdaptedCase{{"roberta-prelayernorm", "gelu", 2, 64, 4, 128}, Precision::bf16},
        AdaptedCase{{"mpnet", "gelu", 3, 128, 2, 64}, Precision::bf16},
        AdaptedCase{{"modernbert", "gelu", 4, 64, 4, 128, R"("local_attention": 10)"},
                    Precision::fp32},
        AdaptedCase{{"modernbert", "gelu", 3, 128, 2, 64, R"("classifier_pooling": "mean")"},
                    Precision::fp32,
                    {.targets = {"attention"}}},
        AdaptedCase{{"deberta-v2", "gelu", 2, 64, 4, 128,
                     R"("relative_attention": true, "pos_att_type": "p2c|c2p",
                        "position_buckets": 16, "share_att_key": true,
                        "norm_rel_ebd": "layer_norm", "position_biased_input": false)"},
                    Precision::fp32},
        AdaptedCase{{"deberta-v2", "relu", 3, 128, 2, 64,
                     R"("relative_attention": true, "pos_att_type": ["c2p"],
                        "max_relative_positions": 20)"},
                    Precision::fp32},
        AdaptedCase{{"deberta-v2", "gelu", 2, 128, 4, 128,
                     R"("relative_attention": true, "pos_att_type": "p2c|c2p",
                        "position_buckets": 64, "share_att_key": true,
                        "norm_rel_ebd": "layer_norm")"},
                    Precision::bf16},
        AdaptedCase{{"qwen3", "silu", 3, 64, 4, 192, R"("num_key_value_heads": 2, "head_dim": 32)"},
                    Precision::fp32,
                    {.targets = {"q_proj", "v_proj"}}},
        AdaptedCase{{"gpt2", "gelu_new", 2, 64, 4, 128}, Precision::fp32},
        AdaptedCase{{"gpt2", "gelu_new", 2, 128, 2, 512}, Precision::bf16},
        AdaptedCase{{"gemma3_text", "gelu_new", 2, 64, 2, 128,
                     R"("num_key_value_heads": 1, "head_dim": 64)"},
                    Precision::fp32},
        AdaptedCase{{"olmo2", "silu", 2, 64, 2, 128, R"("num_key_value_heads": 2)"},
                    Precision::fp32},
        AdaptedCase{{"llama", "silu", 2, 128, 4, 128, R"("num_key_value_heads": 2)"},
                    Precision::bf16}));

/// The products of a map without weights whose adapter is the identity are the dropout itself.
TEST(DropoutOfAdapters, IsOneOfItsRowsAndItsSite) {
  constexpr std::size_t size = 64, rows = 512;
  const at::Tensor weight = at::zeros({size, size});
  const LowRank low{
      .a = at::eye(size), .b = at::eye(size), .scale = 1, .in_adapted = true, .dropout = 0.25};
  low.a.mutable_grad() = at::zeros_like(low.a);
  low.b.mutable_grad() = at::zeros_like(low.b);
  cpu::PackedLinear<float> linear{{{weight, {}, {}, {}, low}}};
  std::uint64_t number = 0;
  EXPECT_TRUE(linear.low_rank().number(number));
  cpu::PackedLinear<float>* const map = &linear;
  cpu::pack_weights<cpu::PackedLinear<float>>({&map, 1}, true);
  const at::Tensor ones = at::ones({rows, size});
  cpu::ReducedRows<float> memory;
  const auto product = [&](cpu::Pass pass, std::uint64_t site, std::size_t row, std::size_t count) {
    memory.site = site;
    memory.row = row;
    at::Tensor to = at::empty({static_cast<std::int64_t>(count), size});
    cpu::Product<float>{pass, linear, ones.const_data_ptr<float>(), count, memory}(
        {}, to.mutable_data_ptr<float>());
    return to;
  };
  const at::Tensor dropped = product(cpu::Pass::forward, 7, 0, rows);
  constexpr double count = size * rows;
  const double zeros = dropped.eq(0).sum().item<double>();
  EXPECT_NEAR(zeros / count, 0.25, 5 * std::sqrt(0.25 * 0.75 / count));
  EXPECT_EQ(dropped.eq(1 / 0.75F).sum().item<double>(), count - zeros);
  EXPECT_TRUE(product(cpu::Pass::backward, 7, 0, rows).equal(dropped));
  EXPECT_TRUE(product(cpu::Pass::forward, 7, 32, 64).equal(dropped.narrow(0, 32, 64)));
  EXPECT_TRUE(product(cpu::Pass::backward, 7, 32, 64).equal(dropped.narrow(0, 32, 64)));
  EXPECT_FALSE(product(cpu::Pass::forward, 9, 0, rows).equal(dropped));
  EXPECT_TRUE(product(cpu::Pass::forward, 0, 0, rows).equal(ones));
  cpu::WeightGradients<float> gradients;
  const at::Tensor d_y = at::arange(count, at::kFloat).view({rows, size}).sin();
  const cpu::WeightProduct<float> all{map, ones.const_data_ptr<float>(),
                                      d_y.const_data_ptr<float>(), rows, 7};
  gradients.add({&all, 1});
  const at::Tensor expected = d_y.t().mm(dropped);
  EXPECT_LT(relative_gap(low.a.grad(), expected), 1e-5);
  EXPECT_LT(relative_gap(low.b.grad(), expected), 1e-5);
}

TEST(AdaptersOfShapes, WithoutKernelsLearnByOperators) {
  const MadeCheckpoint checkpoint{{.hidden = 48, .heads = 4, .inner = 100}};
  auto model = load_classifier(checkpoint.path(), {.lora = LoRA{.rank = 4}, .seed = 1});
  EXPECT_FALSE(model.has_kernels());
  optim::Adam optimizer{{.lr = 1e-2}};
  const auto batch = MadeCheckpoint::batch(0);
  const auto first = static_cast<double>(model.accumulate(batch, 1));
  optimizer.step(model.parameters(), {});
  for (int i = 0; i < 10; ++i) {
    (void)model.accumulate(batch, 1);
    optimizer.step(model.parameters(), {});
  }
  EXPECT_LT(static_cast<double>(model.accumulate(batch, 1)), first - 0.1);
}

TEST(AdaptersOfShapes, TheBaseHasNoGradientAndNoMoments) {
  const MadeCheckpoint checkpoint{{.layers = 2, .hidden = 128}};
  auto model = load_classifier(checkpoint.path(), {.dropout = 0, .lora = LoRA{.rank = 4}});
  optim::Adam optimizer{{.lr = 1e-3}};
  (void)model.accumulate(MadeCheckpoint::batch(0), 1);
  optimizer.step(model.parameters(), {});
  std::int64_t numbers = 0;
  for (const auto& parameter : model.parameters()) {
    const bool of_head =
        parameter.name.starts_with("classifier.") || parameter.name.starts_with("bert.pooler.");
    EXPECT_TRUE(of_head || parameter.name.find(".lora_") != std::string::npos) << parameter.name;
    numbers += parameter.value.numel();
  }
  // 4 · (in + out) for 6 maps of each layer, and the head.
  const std::int64_t adapters = 2 * 4 * (4 * 2 * 128 + 2 * (128 + 128));
  EXPECT_EQ(numbers, adapters + 128 * 128 + 128 + 3 * 128 + 3);
  std::int64_t moments = 0;
  for (const auto& tensor : optimizer.state().views()) {
    moments += static_cast<std::int64_t>(tensor.bytes.size()) / 4;
  }
  EXPECT_EQ(moments, 2 * numbers + static_cast<std::int64_t>(model.parameters().size()));
}

TEST(AdaptersOfShapes, TheEmbeddingsOfWordsAreInBf16) {
  const MadeCheckpoint checkpoint;
  const tests::TemporaryDirectory rounded;
  std::filesystem::copy_file(checkpoint.path() / "config.json", rounded / "config.json");
  const weights::SafetensorsFile file{checkpoint.path() / "model.safetensors"};
  auto tensors = file.tensors();
  at::Tensor words;
  for (weights::TensorView& tensor : tensors) {
    if (!tensor.name.ends_with("word_embeddings.weight")) continue;
    auto numbers = weights::to_floats(tensor);
    words = at::from_blob(numbers.data(), tensor.shape, at::kFloat).to(at::kBFloat16);
    words = words.to(at::kFloat);
    tensor.bytes = std::as_bytes(
        std::span{words.const_data_ptr<float>(), static_cast<std::size_t>(words.numel())});
  }
  ASSERT_TRUE(words.defined());
  weights::write_safetensors(rounded / "model.safetensors", tensors);
  const auto logits = [](const std::filesystem::path& directory, Precision precision) {
    auto model = load_classifier(
        directory, {.dropout = 0, .lora = LoRA{.rank = 4}, .seed = 3, .precision = precision});
    return model.logits(MadeCheckpoint::batch(0));
  };
  for (const auto precision : {Precision::bf16, Precision::fp32}) {
    const bool same = logits(checkpoint.path(), precision) == logits(rounded.path(), precision);
    EXPECT_EQ(same, precision == Precision::bf16) << name(precision);
  }
}

}  // namespace
}  // namespace seqtrain::model
