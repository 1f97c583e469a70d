#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/linspace.h>
#include <gtest/gtest.h>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/model/token_pooling.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

#include "support/environment.hpp"
#include "support/fake_device.hpp"
#include "support/made_checkpoint.hpp"
#include "support/model_case.hpp"
#include "support/on_device.hpp"
#include "support/one_thread.hpp"

namespace seqtrain {
namespace {

using tests::fake_device;

/// The small models whose encoders have a packed backend: all but BART, Longformer, the first
/// DeBERTa, DeBERTa-v2's with a convolution in groups, and those of which only operators compute
/// the layers.
std::vector<std::filesystem::path> packed_cases() {
  auto cases = tests::model_cases();
  std::erase_if(cases, [](const auto& directory) {
    const weights::ConfigFile file{directory / "config.json"};
    const std::string type = file.model_type();
    return type == "bart" || type == "deberta" || type == "longformer" ||
           file.root().find("conv_groups").has_value() ||
           !model::load_classifier(directory, {.device = fake_device}).only_by_operators().empty();
  });
  return cases;
}

model::AnyClassifier load(const std::filesystem::path& directory, double dropout, bool autograd,
                          model::Precision precision = model::Precision::bf16,
                          bool freeze_encoder = false) {
  return model::load_classifier(directory, {.dropout = dropout,
                                            .freeze_encoder = freeze_encoder,
                                            .seed = 3,
                                            .device = fake_device,
                                            .precision = precision,
                                            .autograd = autograd});
}

/// Returns a model of which adapters and the head learn.
model::AnyClassifier load_adapters(const std::filesystem::path& directory, double dropout,
                                   bool autograd,
                                   model::Precision precision = model::Precision::bf16,
                                   double lora_dropout = 0) {
  return model::load_classifier(
      directory, {.dropout = dropout,
                  .lora = model::LoRA{.rank = 2, .alpha = 2, .dropout = lora_dropout},
                  .seed = 3,
                  .device = fake_device,
                  .precision = precision,
                  .autograd = autograd});
}

/// Returns a batch of a small model, without the padding's id inside texts, which operators
/// compute.
data::Batch batch_of(const std::filesystem::path& directory) {
  const tests::ModelCase small{directory};
  const auto config =
      weights::read_config(weights::ConfigFile{directory / "config.json"},
                           {.keys = {.type_vocab_size = ""}, .may_have_silu = true});
  auto batch = small.batch(0);
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const auto length = batch.lengths[static_cast<std::size_t>(row)];
    const auto begin = batch.input_ids.begin() + row * batch.width;
    std::replace(begin, begin + length, static_cast<std::int32_t>(config.pad_token_id), 5);
  }
  return batch;
}

/// Returns a batch of rows with these lengths.
data::Batch batch_of(const std::vector<std::int32_t>& lengths) {
  data::Batch batch;
  batch.rows = static_cast<std::int64_t>(lengths.size());
  batch.width = *std::ranges::max_element(lengths);
  batch.lengths = lengths;
  for (std::int64_t i = 0; i < batch.rows * batch.width; ++i) {
    batch.input_ids.push_back(static_cast<std::int32_t>(5 + i * 7 % 11));
    batch.token_type_ids.push_back(0);
  }
  for (std::int64_t row = 0; row < batch.rows; ++row) batch.labels.push_back(row % 2);
  return batch;
}

double length_of(const at::Tensor& tensor) {
  return at::linalg_vector_norm(tensor.cpu().to(at::kDouble)).item<double>();
}

/// Returns the length of the difference of two models' gradients, each as one vector, as a share of
/// the first one's length. Each gradient's own share must be small.
double error(const model::AnyClassifier& exact, const model::AnyClassifier& other) {
  double square = 0, all = 0;
  for (std::size_t i = 0; i < exact.parameters().size(); ++i) {
    const auto& [a, b] = std::pair{exact.parameters()[i], other.parameters()[i]};
    if (!a.gradient.defined()) continue;
    const double length = length_of(a.gradient);
    const double difference = length_of(a.gradient.cpu() - b.gradient.cpu());
    EXPECT_LE(difference, 0.1 * length + 2e-3) << a.name;
    square += difference * difference;
    all += length * length;
  }
  return std::sqrt(square / all);
}

class PackedBackend : public testing::Test {
 protected:
  tests::OneThread one_thread_;
};

TEST_F(PackedBackend, GiveTheGradientsOfPaddedOperatorsInFp32) {
  ASSERT_GE(packed_cases().size(), 4U);
  for (const auto& directory : packed_cases()) {
    SCOPED_TRACE(directory.filename());
    auto exact = model::load_classifier(directory, {.dropout = 0, .autograd = true});
    auto packed = load(directory, 0, false);
    const auto batch = batch_of(directory);
    tests::reset_device_counts();
    const auto loss = static_cast<double>(packed.accumulate(batch, 1));
    EXPECT_NEAR(loss, static_cast<double>(exact.accumulate(batch, 1)), 0.01);
    EXPECT_LT((exact.logits(batch) - packed.logits(batch)).cwiseAbs().maxCoeff(), 0.03);
    auto padded = load(directory, 0, true);
    static_cast<void>(padded.accumulate(batch, 1));
    EXPECT_LT(error(exact, packed), 0.05);
    EXPECT_LT(error(exact, packed), 1.5 * error(exact, padded));
  }
}

TEST_F(PackedBackend, GiveTheGradientsOfPaddedOperatorsForAnyLengths) {
  for (const char* const name :
       {"bert_without_padding", "albert_groups", "mpnet", "deberta_v3", "deberta_convolution"}) {
    SCOPED_TRACE(name);
    const auto directory = tests::small_model(name).directory();
    for (const bool frozen : {false, true}) {
      auto padded = load(directory, 0, true, model::Precision::fp32, frozen);
      auto packed = load(directory, 0, false, model::Precision::fp32, frozen);
      for (const std::vector<std::int32_t>& lengths :
           {std::vector<std::int32_t>{1}, {9, 9, 9, 9, 9, 9, 9, 1}, {3, 1, 7}, {9}}) {
        auto batch = batch_of(lengths);
        if (padded.problem_type() == ProblemType::multi_label) {
          batch.targets.assign(lengths.size() * padded.config().labels.size(), 1);
        }
        EXPECT_NEAR(static_cast<double>(padded.accumulate(batch, 0.5)),
                    static_cast<double>(packed.accumulate(batch, 0.5)), 1e-5);
        EXPECT_LT((padded.logits(batch) - packed.logits(batch)).cwiseAbs().maxCoeff(), 1e-5);
      }
      for (std::size_t i = 0; i < padded.parameters().size(); ++i) {
        const auto& [a, b] = std::pair{padded.parameters()[i], packed.parameters()[i]};
        ASSERT_EQ(a.gradient.defined(), b.gradient.defined()) << a.name;
        if (a.gradient.defined()) {
          EXPECT_LT(tests::difference(a.gradient, b.gradient), 2e-5) << a.name;
        }
      }
    }
  }
}

/// Compares the slope of the loss along each parameter's gradient with the gradient.
void expect_slopes(model::AnyClassifier& model, const data::Batch& batch) {
  const auto loss = [&] { return static_cast<double>(model.accumulate(batch, 1)); };
  static_cast<void>(loss());
  std::size_t compared = 0;
  for (const auto& parameter : model.parameters()) {
    const at::Tensor gradient = parameter.gradient.clone();
    const double length = length_of(gradient);
    if (length < 1e-2) continue;
    ++compared;
    const at::Tensor step = gradient.div(length).mul(3e-3);  // equal seeds give equal masks
    const at::Tensor value = parameter.value.detach();
    const at::Tensor before = value.clone();
    const double above = (value.add_(step), loss());
    const double below = (value.sub_(step, 2), loss());
    value.copy_(before);
    EXPECT_NEAR((above - below) / 6e-3, length, 0.03 * length + 1e-3) << parameter.name;
    for (const auto& other : model.parameters()) other.gradient.zero_();
    static_cast<void>(loss());
    EXPECT_TRUE(parameter.gradient.cpu().equal(gradient.cpu())) << parameter.name;
  }
  EXPECT_GE(compared, 4U);
}

tests::Environment kernels_of_norms() {
  return {"SEQTRAIN_GPU_KERNELS", "layer_norm"};
}

/// Compares a model whose norms are computed by kernels of our own with one by operators.
void expect_nearly_same(const std::filesystem::path& directory, model::Precision precision) {
  SCOPED_TRACE(directory.filename().string() + " " + std::string{model::name(precision)});
  const auto batch = batch_of(directory);
  const bool is_exact = precision == model::Precision::fp32;
  auto by_operators = load(directory, 0, false, precision);
  const auto asked = kernels_of_norms();
  auto by_kernels = load(directory, 0, false, precision);
  EXPECT_EQ(by_kernels.own_kernels(), "Layer norms are kernels of our own on fake:0");
  for (auto* const model : {&by_operators, &by_kernels}) {
    if (const auto& scale = model->parameters().front().loss_scale) scale->value.fill_(1);
  }
  EXPECT_NEAR(static_cast<double>(by_operators.accumulate(batch, 1)),
              static_cast<double>(by_kernels.accumulate(batch, 1)), is_exact ? 1e-6 : 3e-3);
  EXPECT_LT((by_operators.logits(batch) - by_kernels.logits(batch)).cwiseAbs().maxCoeff(),
            is_exact ? 5e-6 : 0.02);
  EXPECT_LT(error(by_operators, by_kernels), is_exact ? 1e-5 : 0.02);
  if (is_exact) return;
  auto exact = load(directory, 0, true, model::Precision::fp32);
  static_cast<void>(exact.accumulate(batch, 1));
  EXPECT_LT(error(exact, by_kernels), 1.1 * error(exact, by_operators));
}

TEST_F(PackedBackend, GiveNearlyTheSameGradientsByTheKernelsOfNorms) {
  for (const auto& directory : packed_cases()) {
    expect_nearly_same(directory, model::Precision::fp32);
  }
  for (const char* const name : {"bert_gelu", "modernbert_global"}) {
    const auto directory = tests::small_model(name).directory();
    expect_nearly_same(directory, model::Precision::bf16);
    expect_nearly_same(directory, model::Precision::fp16);
  }
}

using SlowPackedPasses = PackedBackend;

TEST_F(SlowPackedPasses, GiveTheGradientWithDropoutByTheKernelsOfNorms) {
  const auto asked = kernels_of_norms();
  for (const char* const name :
       {"bert_gelu", "albert", "modernbert_global", "mpnet", "deberta_convolution"}) {
    SCOPED_TRACE(name);
    const auto directory = tests::small_model(name).directory();
    auto model = load(directory, 0.3, false, model::Precision::fp32);
    expect_slopes(model, batch_of(directory));
  }
}

TEST_F(SlowPackedPasses, GiveTheGradientWithDropout) {
  for (const char* const name :
       {"bert_gelu", "albert", "modernbert_global", "mpnet", "deberta_v3", "deberta_convolution"}) {
    SCOPED_TRACE(name);
    const auto directory = tests::small_model(name).directory();
    auto model = load(directory, 0.3, false, model::Precision::fp32);
    expect_slopes(model, batch_of(directory));
  }
}

/// Encoders whose scores have a bias, in their forms.
std::vector<tests::MadeModel> biased_models() {
  const auto deberta = [](const std::string& terms, const char* more) {
    return tests::MadeModel{.family = "deberta-v2",
                            .more = R"("relative_attention": true, "pos_att_type": ")" + terms +
                                    R"(", "type_vocab_size": 0, )" + more};
  };
  return {{.family = "mpnet"},
          deberta("c2p|p2c", R"("position_buckets": 16, "share_att_key": true,
                                "norm_rel_ebd": "layer_norm", "position_biased_input": false)"),
          deberta("c2p", R"("max_relative_positions": 9, "embedding_size": 32)"),
          deberta("p2c", R"("position_buckets": 8)"),
          deberta("c2p|p2c", R"("conv_act": "tanh", "conv_kernel_size": 3)"),
          // A convolution beside the only layer, which is wider than some rows.
          {.family = "deberta-v2",
           .layers = 1,
           .more = R"("conv_kernel_size": 5, "conv_act": "gelu", "embedding_size": 32)"}};
}

/// Returns a batch of rows of 1 to 60 tokens, none of which is the padding's.
data::Batch made_batch() {
  auto batch = tests::MadeCheckpoint::batch(0);
  std::ranges::replace(batch.input_ids, 1, 5);
  return batch;
}

TEST_F(PackedBackend, GiveTheGradientsOfScoresWithABias) {
  const auto batch = made_batch();
  for (const auto& made : biased_models()) {
    const tests::MadeCheckpoint checkpoint{made};
    for (const auto precision :
         {model::Precision::fp32, model::Precision::bf16, model::Precision::fp16}) {
      for (const bool mean : {false, true}) {
        SCOPED_TRACE(made.family + " " + made.more + (mean ? " mean " : " ") +
                     std::string{model::name(precision)});
        const auto results = [&](c10::Device device, model::Precision type, bool autograd) {
          auto model = model::load_classifier(checkpoint.path(), {.dropout = 0,
                                                                  .few_shot = mean,
                                                                  .seed = 3,
                                                                  .device = device,
                                                                  .precision = type,
                                                                  .autograd = autograd});
          if (const auto& scale = model.parameters().front().loss_scale) scale->value.fill_(1);
          static_cast<void>(model.accumulate(batch, 1));
          return model;
        };
        auto exact = results(at::kCPU, model::Precision::fp32, true);
        auto padded = results(fake_device, precision, true);
        tests::reset_device_counts();
        auto packed = results(fake_device, precision, false);
        EXPECT_LE(tests::device_counts().largest_product, 512) << "of 420 tokens in 780 cells";
        const bool is_exact = precision == model::Precision::fp32;
        EXPECT_LT((exact.logits(batch) - packed.logits(batch)).cwiseAbs().maxCoeff(),
                  is_exact ? 2e-5 : 0.05);
        const double difference = error(exact, packed);
        EXPECT_LT(difference, is_exact ? 2e-5 : 0.05);
        EXPECT_LE(difference, 1.5 * error(exact, padded) + 1e-5);
      }
    }
  }
}

/// Takes the greatest state of all tokens.
class MaxOfTokens : public model::AnyHead {
 public:
  MaxOfTokens(std::int64_t hidden_size, std::int64_t labels)
      : weight_{at::linspace(-0.2, 0.2, labels * hidden_size).view({labels, hidden_size})} {}

  void to(c10::Device device) override { weight_ = weight_.to(device).set_requires_grad(true); }
  std::vector<std::pair<std::string, at::Tensor>> parameters() const override {
    return {{"weight", weight_}};
  }
  at::Tensor forward(const at::Tensor& tokens, bool) const override {
    return model::max_of_tokens(tokens).matmul(weight_.t());
  }

 private:
  at::Tensor weight_;
};

TEST_F(PackedBackend, GiveAHeadTheStatesOfAllTokens) {
  auto batch = made_batch();
  batch.set = 1;  // of a loader, whose rows a frozen encoder may keep
  const tests::MadeCheckpoint checkpoint;
  const auto make = [](std::int64_t hidden_size, std::int64_t labels) {
    return std::make_shared<MaxOfTokens>(hidden_size, labels);
  };
  const auto results = [&](c10::Device device, bool autograd, bool frozen) {
    auto model = model::load_classifier(
        checkpoint.path(), {.dropout = 0,
                            .freeze_encoder = frozen,
                            .head = model::OwnHead{.make = make, .pooling = model::Pooling::none},
                            .seed = 3,
                            .device = device,
                            .precision = model::Precision::fp32,
                            .autograd = autograd});
    static_cast<void>(model.accumulate(batch, 1));
    return model;
  };
  auto exact = results(at::kCPU, true, false);
  tests::reset_device_counts();
  auto packed = results(fake_device, false, false);
  EXPECT_LE(tests::device_counts().largest_product, 512) << "of 420 tokens in 780 cells";
  EXPECT_LT(error(exact, packed), 2e-5);
  auto frozen = results(fake_device, false, true);
  for (auto* const model : {&packed, &frozen}) {
    EXPECT_LT((exact.logits(batch) - model->logits(batch)).cwiseAbs().maxCoeff(), 2e-5);
    const at::Tensor states = model->hidden(batch).cpu();
    EXPECT_EQ(states.sizes(), exact.hidden(batch).sizes());
    EXPECT_LT(states.sub(exact.hidden(batch)).abs().max().item<float>(), 2e-5);
  }
}

/// Returns how many operators a step needs.
std::int64_t operators_of(model::AnyClassifier model, const data::Batch& batch) {
  static_cast<void>(model.accumulate(batch, 1));
  tests::reset_device_counts();
  static_cast<void>(model.accumulate(batch, 1));
  EXPECT_EQ(tests::device_counts().waits, 0);
  return tests::device_counts().operators;
}

/// Expects that gradients which the model says are complete stay as they are, and that no layer's
/// is late. Returns how often it says so.
std::int64_t count_complete(model::AnyClassifier model, const data::Batch& batch) {
  const auto parameters = model.parameters();
  std::vector<std::pair<std::size_t, at::Tensor>> complete;
  std::int64_t calls = 0;
  std::size_t end = parameters.size();
  const auto ready = [&](std::size_t first) {
    ++calls;
    EXPECT_LT(first, end);
    for (std::size_t i = first; i < end; ++i) {
      const at::Tensor& gradient = parameters[i].gradient;
      if (parameters[i].late) {
        EXPECT_NE(parameters[i].depth.part, tensor::Depth::Part::layer) << parameters[i].name;
      } else if (gradient.defined()) {
        complete.emplace_back(i, gradient.clone());
      }
    }
    end = first;
  };
  static_cast<void>(model.accumulate(batch, 1, ready));
  for (const auto& [i, gradient] : complete) {
    EXPECT_EQ(tests::difference(gradient, parameters[i].gradient), 0) << parameters[i].name;
  }
  return calls;
}

TEST_F(PackedBackend, TellOfEachLayerThatItsGradientsAreComplete) {
  for (const auto& directory : packed_cases()) {
    SCOPED_TRACE(directory.filename());
    const auto batch = batch_of(directory);
    for (const bool adapters : {false, true}) {
      auto model = adapters ? load_adapters(directory, 0.1, false) : load(directory, 0.1, false);
      // Layers of ALBERT share their parameters.
      const bool is_albert = directory.filename().string().starts_with("albert");
      const std::int64_t layers = is_albert ? 0 : model.config().num_hidden_layers;
      EXPECT_EQ(count_complete(std::move(model), batch), layers);
    }
  }
  for (const auto& made : biased_models()) {
    SCOPED_TRACE(made.family + " " + made.more);
    const tests::MadeCheckpoint checkpoint{made};
    EXPECT_EQ(count_complete(load(checkpoint.path(), 0, false), made_batch()), made.layers);
  }
}

TEST_F(PackedBackend, TellWhichRowsOfWordsGetAGradient) {
  for (const auto& directory : tests::model_cases()) {
    SCOPED_TRACE(directory.filename());
    const auto batch = tests::ModelCase{directory}.batch(0);
    for (const bool autograd : {false, true}) {
      auto model = load(directory, 0.1, autograd);
      tests::reset_device_counts();
      static_cast<void>(model.accumulate(batch, 1));
      EXPECT_EQ(tests::device_counts().waits, 0);
      int tables = 0;
      for (const auto& parameter : model.parameters()) {
        if (!parameter.touched) continue;
        ++tables;
        tensor::RowSet rows{parameter.touched->rows()};
        tensor::insert_rows(rows, parameter.gradient.cpu());
        std::vector<bool> told(rows.rows());
        const auto tell = [&](std::size_t first, std::size_t end) {
          std::fill(told.begin() + static_cast<std::ptrdiff_t>(first),
                    told.begin() + static_cast<std::ptrdiff_t>(end), true);
        };
        parameter.touched->for_each_run(tell);
        rows.for_each_run([&](std::size_t first, std::size_t end) {
          for (; first < end; ++first) EXPECT_TRUE(told[first]) << parameter.name << " " << first;
        });
        EXPECT_LE(std::ranges::count(told, true), std::ssize(batch.input_ids));
      }
      EXPECT_EQ(tables, 1);
    }
  }
}

TEST_F(PackedBackend, NeedFewerOperators) {
  for (const auto& directory : packed_cases()) {
    SCOPED_TRACE(directory.filename());
    const auto batch = batch_of(directory);
    const auto compare = [&](const char* what, auto make) {
      const auto packed = operators_of(make(directory, 0.1, false, model::Precision::bf16), batch);
      const auto padded = operators_of(make(directory, 0.1, true, model::Precision::bf16), batch);
      EXPECT_LT(packed, padded * 7 / 10) << what;
      RecordProperty(directory.filename().string() + what,
                     std::to_string(packed) + " of " + std::to_string(padded));
    };
    compare("", [](auto&&... options) { return load(options...); });
    compare("_adapters", [](auto&&... options) { return load_adapters(options...); });
  }
}

/// Returns the number of operators and kernels that a layer of a family takes in training.
std::int64_t operators_of_layer(const std::string& family) {
  const auto operators = [&](std::int64_t layers) {
    std::string more;
    for (std::int64_t i = 0; i < layers; ++i) more += R"(, "full_attention")";
    more = R"("layer_types": [)" + more.substr(2) + "]";
    const tests::MadeCheckpoint checkpoint{
        {.family = family, .layers = layers, .more = family == "modernbert" ? more : ""}};
    return operators_of(load(checkpoint.path(), 0.1, false), made_batch());
  };
  return operators(3) - operators(2);
}

TEST_F(PackedBackend, NeedFewerOperatorsByTheKernelsOfNorms) {
  for (const std::string family : {"bert", "modernbert"}) {
    const auto by_operators = operators_of_layer(family);
    const auto asked = kernels_of_norms();
    const auto by_kernels = operators_of_layer(family);
    EXPECT_LE(by_kernels, by_operators - 6) << family;
    RecordProperty(family, std::to_string(by_kernels) + " of " + std::to_string(by_operators));
  }
}

TEST_F(PackedBackend, GiveEqualBitsForEqualSeedsByTheKernelsOfNorms) {
  const auto asked = kernels_of_norms();
  for (const char* const name : {"bert_gelu", "albert", "modernbert_global"}) {
    SCOPED_TRACE(name);
    const auto directory = tests::small_model(name).directory();
    const auto batch = batch_of(directory);
    auto one = load(directory, 0.3, false), same = load(directory, 0.3, false);
    EXPECT_EQ(static_cast<double>(one.accumulate(batch, 1)),
              static_cast<double>(same.accumulate(batch, 1)));
    for (std::size_t i = 0; i < one.parameters().size(); ++i) {
      const auto& [a, b] = std::pair{one.parameters()[i], same.parameters()[i]};
      if (!a.gradient.defined()) continue;
      EXPECT_EQ(tests::difference(a.gradient, b.gradient), 0) << a.name;
    }
    auto later = batch;
    later.index = 7;
    EXPECT_NE(static_cast<double>(one.accumulate(batch, 1)),
              static_cast<double>(same.accumulate(later, 1)));
  }
}

TEST_F(PackedBackend, TrainAdaptersByTheKernelsOfNorms) {
  const auto directory = tests::small_model("bert_gelu").directory();
  const auto batch = batch_of(directory);
  auto by_operators = load_adapters(directory, 0, false, model::Precision::fp32);
  const auto asked = kernels_of_norms();
  auto by_kernels = load_adapters(directory, 0, false, model::Precision::fp32);
  static_cast<void>(by_operators.accumulate(batch, 1));
  static_cast<void>(by_kernels.accumulate(batch, 1));
  EXPECT_LT(error(by_operators, by_kernels), 1e-5);
}

/// Changes B, which begins as 0, so that A gets a gradient too.
void change_adapters(const model::AnyClassifier& model) {
  double number = 0;
  for (const auto& parameter : model.parameters()) {
    if (!parameter.name.ends_with("lora_B.weight")) continue;
    const at::Tensor numbers = at::arange(parameter.value.numel(), at::kFloat).add(++number);
    parameter.value.detach().copy_(numbers.sin().mul(0.2).view(parameter.value.sizes()));
  }
}

TEST_F(PackedBackend, GiveTheGradientsOfAdapters) {
  for (const auto& directory : packed_cases()) {
    SCOPED_TRACE(directory.filename());
    for (const auto precision :
         {model::Precision::fp32, model::Precision::bf16, model::Precision::fp16}) {
      auto exact = load_adapters(directory, 0, true, model::Precision::fp32);
      auto padded = load_adapters(directory, 0, true, precision);
      auto packed = load_adapters(directory, 0, false, precision);
      const auto batch = batch_of(directory);
      const bool is_exact = precision == model::Precision::fp32;
      for (auto* const model : {&exact, &padded, &packed}) {
        change_adapters(*model);
        if (const auto& scale = model->parameters().front().loss_scale) scale->value.fill_(1);
        static_cast<void>(model->accumulate(batch, 1));
      }
      EXPECT_LT((exact.logits(batch) - packed.logits(batch)).cwiseAbs().maxCoeff(),
                is_exact ? 2e-5 : 0.03);
      const double difference = error(exact, packed);
      EXPECT_LT(difference, is_exact ? 2e-5 : 0.05);
      EXPECT_LE(difference, 2 * error(exact, padded) + 1e-3);
      RecordProperty(directory.filename().string() + "_" + std::string{model::name(precision)},
                     std::to_string(difference));
    }
  }
}

TEST_F(PackedBackend, LeaveAConvolutionInGroupsToTheOperators) {
  const auto directory = tests::small_model("deberta_keys").directory();
  const auto loss = [&](bool autograd) {
    auto model = load(directory, 0.3, autograd);
    return static_cast<double>(model.accumulate(batch_of(directory), 1));
  };
  EXPECT_EQ(loss(false), loss(true));
}

TEST_F(PackedBackend, GiveTheGradientWithDropoutOfAdapters) {
  const auto directory = tests::small_model("bert_gelu").directory();
  const auto batch = tests::ModelCase{directory}.batch(0);
  auto model = load_adapters(directory, 0, false, model::Precision::fp32, 0.4);
  change_adapters(model);
  expect_slopes(model, batch);
}

TEST_F(PackedBackend, ComputeLongRowsByWindowsInBf16AndByOperatorsInFp32) {
  const auto directory = tests::small_model("modernbert").directory();
  const auto batch = tests::ModelCase{directory}.batch(0);
  EXPECT_LT(operators_of(load(directory, 0, false), batch),
            operators_of(load(directory, 0, true), batch));
  const auto fp32 = model::Precision::fp32;
  EXPECT_EQ(operators_of(load(directory, 0, false, fp32), batch),
            operators_of(load(directory, 0, true, fp32), batch));
}

TEST_F(PackedBackend, LeaveHeadsThatFlashAttentionDoesNotTakeToTheOperators) {
  const tests::MadeCheckpoint checkpoint{
      {.family = "modernbert",
       .layers = 1,
       .hidden = 288,
       .heads = 1,
       .more = R"("layer_types": ["sliding_attention"], "local_attention": 8)"}};
  const auto batch = made_batch();
  const auto loss = [&](bool autograd) {
    auto model = load(checkpoint.path(), 0, autograd);
    return static_cast<double>(model.accumulate(batch, 1));
  };
  EXPECT_EQ(loss(false), loss(true));
}

TEST_F(PackedBackend, GiveEqualBitsForEqualSeeds) {
  for (const auto& directory : packed_cases()) {
    SCOPED_TRACE(directory.filename());
    const auto batch = batch_of(directory);
    const auto loss = [&] {
      auto model = load(directory, 0.3, false);
      return static_cast<double>(model.accumulate(batch, 1));
    };
    EXPECT_EQ(loss(), loss());
    auto model = load(directory, 0.3, false);
    auto later = batch;
    later.index = 7;
    EXPECT_NE(loss(), static_cast<double>(model.accumulate(later, 1)));
  }
}

TEST_F(PackedBackend, AccumulateGradients) {
  const auto directory = packed_cases().front();
  const auto batch = tests::ModelCase{directory}.batch(0);
  auto once = load(directory, 0, false);
  auto twice = load(directory, 0, false);
  static_cast<void>(once.accumulate(batch, 2));
  static_cast<void>(twice.accumulate(batch, 1));
  static_cast<void>(twice.accumulate(batch, 1));
  for (std::size_t i = 0; i < once.parameters().size(); ++i) {
    const auto& [a, b] = std::pair{once.parameters()[i], twice.parameters()[i]};
    const at::Tensor difference = a.gradient.cpu() - b.gradient.cpu();
    EXPECT_LE(length_of(difference), 0.02 * length_of(a.gradient) + 1e-4) << a.name;
  }
}

TEST_F(PackedBackend, FollowChangedParameters) {
  const auto directory = tests::small_model("bert_gelu").directory();
  const auto batch = tests::ModelCase{directory}.batch(0);
  auto model = load(directory, 0, false);
  const auto before = model.logits(batch);
  for (const auto& parameter : model.parameters()) {
    if (parameter.name.ends_with("output.dense.weight")) parameter.value.detach().mul_(3);
  }
  EXPECT_GT((model.logits(batch) - before).cwiseAbs().maxCoeff(), 1e-3);
}

TEST_F(PackedBackend, LeavePaddingInsideATextToTheOperators) {
  for (const auto& directory : packed_cases()) {
    SCOPED_TRACE(directory.filename());
    auto exact = model::load_classifier(directory, {.dropout = 0, .autograd = true});
    auto packed = load(directory, 0, false);
    if (exact.config().pad_token_id < 0) continue;
    auto batch = tests::ModelCase{directory}.batch(0);
    batch.input_ids[1] = static_cast<std::int32_t>(exact.config().pad_token_id);
    EXPECT_LT((exact.logits(batch) - packed.logits(batch)).cwiseAbs().maxCoeff(), 0.02);
    EXPECT_NEAR(static_cast<double>(packed.accumulate(batch, 1)),
                static_cast<double>(exact.accumulate(batch, 1)), 0.01);
  }
}

}  // namespace
}  // namespace seqtrain
