#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/made_checkpoint.hpp"
#include "support/model_case.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

using tests::MadeCheckpoint;

std::filesystem::path golden_adapters() {
  return tests::golden() / "adapters";
}

/// Writes a copy of a made checkpoint into `directory`, with NaN in the middle of its first table.
void write_with_nan(const std::filesystem::path& directory, weights::DType dtype,
                    std::uint32_t nan) {
  const MadeCheckpoint made;
  std::filesystem::copy_file(made.path() / "config.json", directory / "config.json");
  const weights::WeightsFolder whole{made.path()};
  const std::string spoiled = "bert.embeddings.word_embeddings.weight";
  std::vector<weights::TensorView> tensors;
  for (const auto& name : whole.names()) tensors.push_back(*whole.find(name));
  auto& table = *std::ranges::find(tensors, spoiled, &weights::TensorView::name);
  table.dtype = dtype;
  std::vector<std::byte> bytes(*weights::byte_size(dtype, table.shape));
  std::memcpy(bytes.data() + bytes.size() / 2, &nan, weights::size_of(dtype));
  table.bytes = bytes;
  weights::write_safetensors(directory / "model.safetensors", tensors);
}

TEST(LoadClassifier, NamesATensorThatHoldsNanAndItsFile) {
  for (const auto& [dtype, nan] : {std::pair{weights::DType::f32, 0x7fc00000U},
                                   {weights::DType::f16, 0x7e00U},
                                   {weights::DType::bf16, 0xffc0U}}) {
    const tests::TemporaryDirectory directory;
    write_with_nan(directory.path(), dtype, nan);
    for (const bool only_predicts : {false, true}) {
      ClassifierOptions options;
      options.only_predicts = only_predicts;
      const auto problem =
          tests::problem_of([&] { (void)load_classifier(directory.path(), options); });
      const auto file = (directory / "model.safetensors").string();
      EXPECT_TRUE(problem.starts_with(file + ": bert.embeddings.word_embeddings.weight: holds NaN"))
          << problem;
    }
  }
}

/// Adapters that PEFT made (tests/golden/adapters.py).
class PeftAdapter : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::filesystem::path adapter() const { return golden_adapters() / GetParam(); }
  [[nodiscard]] tests::ModelCase base() const { return tests::small_model(GetParam()); }
};

TEST_P(PeftAdapter, GivesItsLogits) {
  const weights::SafetensorsFile file{adapter() / "expected.safetensors"};
  const auto expected = weights::to_floats(file.tensors().front());
  auto model = load_classifier(adapter(), {}, base().directory());
  const auto logits = model.logits(base().batch(0));
  ASSERT_EQ(static_cast<std::size_t>(logits.size()), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(logits.data()[i], expected[i], 1e-4);
  }
}

/// Writes adapters that tests/golden/adapters.py --check reads with PEFT if SEQTRAIN_ADAPTERS names
/// a directory.
TEST_P(PeftAdapter, IsWrittenAndReadWithEqualLogits) {
  auto model = load_classifier(base().directory(),
                               {.lora = LoRA{.rank = 3, .alpha = 5, .rank_stabilised = true}});
  std::uint64_t number = 0;
  for (const auto& parameter : model.parameters()) {
    const at::NoGradGuard no_gradients;
    const auto generator = tensor::make_generator(++number, c10::Device{c10::kCPU});
    parameter.value.normal_(0, 0.3, generator);
  }
  const tests::TemporaryDirectory own;
  const char* const outside = std::getenv("SEQTRAIN_ADAPTERS");
  const auto directory = (outside ? std::filesystem::path{outside} : own.path()) / GetParam();
  model.save_pretrained(directory);
  const auto logits = model.logits(base().batch(0));
  const auto merged = load_classifier(directory).logits(base().batch(0));
  EXPECT_LT((logits - merged).cwiseAbs().maxCoeff(), 1e-4F * logits.cwiseAbs().maxCoeff());
  const std::span numbers{logits.data(), static_cast<std::size_t>(logits.size())};
  weights::write_safetensors(
      directory / "logits.safetensors",
      std::vector<weights::TensorView>{{.name = "logits",
                                        .shape = {logits.rows(), logits.cols()},
                                        .bytes = std::as_bytes(numbers)}});
}

std::vector<std::string> adapter_cases() {
  std::vector<std::string> cases;
  for (const auto& entry : std::filesystem::directory_iterator{golden_adapters()}) {
    cases.push_back(entry.path().filename().string());
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Cases, PeftAdapter, testing::ValuesIn(adapter_cases()),
                         [](const auto& test) { return test.param; });

class SavedAdapter : public testing::Test {
 protected:
  [[nodiscard]] AnyClassifier train() const {
    auto model = load_classifier(base_.path(), {.dropout = 0, .lora = LoRA{.rank = 2}, .seed = 3});
    for (const auto& parameter : model.parameters()) {
      const at::NoGradGuard no_gradients;
      parameter.value.add_(0.05);
    }
    return model;
  }
  std::string problem() const {
    return tests::problem_of([&] { (void)load_classifier(directory_.path()); });
  }

  MadeCheckpoint base_;
  tests::TemporaryDirectory directory_;
};

TEST_F(SavedAdapter, HasPeftsLayout) {
  const auto model = train();
  model.save_pretrained(directory_.path());
  const auto config = weights::read_adapter_config(directory_.path());
  EXPECT_EQ(config.base, base_.path().string());
  EXPECT_EQ(config.lora.rank, 2);
  const weights::SafetensorsFile file{directory_ / "adapter_model.safetensors"};
  EXPECT_EQ(file.tensors().size(), model.parameters().size());
  const std::string first =
      "base_model.model.bert.encoder.layer.0.attention.self.query.lora_A.weight";
  EXPECT_EQ(file.tensors().front().name, first);
  EXPECT_EQ(file.tensors().back().name, "base_model.model.classifier.bias");
  EXPECT_EQ(model.adapter_config().lora.targets.size(), 12U);
}

TEST_F(SavedAdapter, LoadsMergedWithItsLabels) {
  auto model = train();
  model.save_pretrained(directory_.path());
  auto loaded = load_classifier(directory_.path(), {.only_predicts = true});
  EXPECT_EQ(loaded.config().labels, (std::vector<std::string>{"a", "b", "c"}));
  const auto batch = MadeCheckpoint::batch(0);
  EXPECT_LT((model.logits(batch) - loaded.logits(batch)).cwiseAbs().maxCoeff(), 3e-5);
  auto base = load_classifier(base_.path(), {.seed = 3});
  EXPECT_GT((model.logits(batch) - base.logits(batch)).cwiseAbs().maxCoeff(), 1e-2);
}

TEST_F(SavedAdapter, ItsStateIsAdaptersAndHead) {
  auto model = train();
  auto other = load_classifier(base_.path(), {.dropout = 0, .lora = LoRA{.rank = 2}, .seed = 4});
  const auto state = model.state_dict();
  other.load_state_dict(state.views());
  const auto batch = MadeCheckpoint::batch(0);
  EXPECT_TRUE(model.logits(batch) == other.logits(batch));
}

TEST_F(SavedAdapter, OfAnotherBaseIsRefused) {
  train().save_pretrained(directory_.path());
  const MadeCheckpoint larger{{.hidden = 128}};
  const MadeCheckpoint other{{.family = "roberta"}};
  const auto refusal = [&](const MadeCheckpoint& base) {
    std::filesystem::remove(directory_ / "config.json");
    return tests::problem_of([&] { (void)load_classifier(directory_.path(), {}, base.path()); });
  };
  EXPECT_NE(refusal(larger).find("does not fit bert.encoder.layer.0"), std::string::npos);
  EXPECT_NE(refusal(larger).find("name the base that the adapter was trained for"),
            std::string::npos);
  EXPECT_NE(refusal(other).find("has no place in the model"), std::string::npos) << refusal(other);
}

TEST_F(SavedAdapter, IsNotTrainedAsABase) {
  train().save_pretrained(directory_.path());
  const auto problem = tests::problem_of(
      [&] { (void)load_classifier(directory_.path(), {.lora = LoRA{.rank = 2}}); });
  EXPECT_EQ(problem, "lora: does not go with an adapter");
}

TEST_F(SavedAdapter, OfAHugeMapIsRefusedBeforeItIsMerged) {
  auto config = train().adapter_config();
  config.lora.rank = 1;
  const std::vector<float> numbers(1 << 20, 0.5F);
  const auto bytes = std::as_bytes(std::span{numbers});
  const std::string map = "bert.encoder.layer.0.attention.self.query.";
  weights::write_adapter(
      directory_.path(), config,
      std::vector<weights::TensorView>{
          {.name = map + "lora_A.weight", .shape = {1, 1 << 20}, .bytes = bytes},
          {.name = map + "lora_B.weight", .shape = {1 << 20, 1}, .bytes = bytes}});
  EXPECT_NE(problem().find("does not fit " + map + "weight of shape [64, 64]"), std::string::npos)
      << problem();
}

TEST_F(SavedAdapter, OfANormIsRefusedByItsNameInPeft) {
  const auto base = tests::small_model("nomic_bert").directory();
  const auto made = load_classifier(base, {.lora = LoRA{.rank = 2}});
  const std::vector<float> numbers(32, 0.5F);
  const auto bytes = std::as_bytes(std::span{numbers});
  const std::string norm = "nomic_bert.layers.0.norm1.";
  weights::write_adapter(directory_.path(), made.adapter_config(),
                         std::vector<weights::TensorView>{
                             {.name = norm + "lora_A.weight", .shape = {2, 16}, .bytes = bytes},
                             {.name = norm + "lora_B.weight", .shape = {16, 2}, .bytes = bytes}});
  const auto problem =
      tests::problem_of([&] { (void)load_classifier(directory_.path(), {}, base); });
  EXPECT_NE(problem.find("has no place in the model"), std::string::npos) << problem;
}

/// PEFT writes no config.json. The head then tells the number of labels.
TEST_F(SavedAdapter, WithoutAConfigTakesTheLabelsOfItsHead) {
  const auto labels_with = [&](std::vector<std::string> labels) {
    const auto model = load_classifier(
        base_.path(), {.labels = std::move(labels), .problem_type = {}, .lora = LoRA{.rank = 2}});
    model.save_pretrained(directory_.path());
    std::filesystem::remove(directory_ / "config.json");
    return load_classifier(directory_.path(), {.only_predicts = true}).config().labels;
  };
  EXPECT_EQ(labels_with({"a", "b", "c", "d"}),
            (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3"}));
  const auto of_base = load_classifier(base_.path()).config().labels;
  EXPECT_EQ(labels_with({"x", "y", "z"}), of_base);
}

TEST_F(SavedAdapter, WithoutItsBaseIsRefused) {
  auto config = train().adapter_config();
  train().save_pretrained(directory_.path());
  config.base = "/nowhere/base";
  tests::write_file(directory_ / "adapter_config.json", weights::adapter_config_text(config));
  EXPECT_EQ(problem(),
            (directory_ / "adapter_config.json").string() +
                ": base_model_name_or_path: names '/nowhere/base', which is no directory "
                "of a model; put the base there, or write its place into that field");
}

TEST(LoraOptions, ThatFitNoModelAreRefused) {
  const MadeCheckpoint checkpoint;
  const auto refusal = [&](const LoRA& lora) {
    return tests::problem_of([&] { (void)load_classifier(checkpoint.path(), {.lora = lora}); });
  };
  EXPECT_EQ(refusal({.rank = 0}), "lora: rank: must be at least 1");
  EXPECT_EQ(refusal({.alpha = 0}), "lora: alpha: must be a number above 0");
  EXPECT_EQ(refusal({.rank = 65}),
            "lora: rank: 65 is above the sizes of bert.encoder.layer.0.attention.self.query, 64 "
            "inputs and 64 outputs");
  EXPECT_EQ(refusal({.targets = {"q_lin"}}),
            "lora: targets: 'q_lin' fits no linear layer of the encoder; a map's name is "
            "bert.encoder.layer.0.attention.self.query");
  EXPECT_TRUE(
      refusal({.targets = {"query", "vaule"}}).starts_with("lora: targets: 'vaule' fits no"));
  EXPECT_EQ(refusal({.targets = {}}), "lora: targets: must not be empty");
}

}  // namespace
}  // namespace seqtrain::model
