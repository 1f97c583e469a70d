#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/write_torch_file.hpp>

#include "support/corrupt.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

const std::string map = "bert.encoder.layer.0.attention.self.query";

/// An adapter of rank 2 for one map, whose parts tests change.
class AdapterFolder : public testing::Test {
 protected:
  void add(const std::string& name, std::vector<std::int64_t> shape, float value = 0.5F) {
    const auto count = static_cast<std::size_t>(*numel(shape));
    numbers_.emplace_back(count, value);
    tensors_.push_back({.name = name,
                        .shape = std::move(shape),
                        .bytes = std::as_bytes(std::span<const float>{numbers_.back()})});
  }
  void add_factors() {
    add(map + ".lora_A.weight", {2, 8});
    add(map + ".lora_B.weight", {4, 2});
  }
  void write() const { write_adapter(directory_.path(), config_, tensors_); }

  /// Writes the files and returns why they are refused.
  [[nodiscard]] std::string problem() const {
    write();
    return refusal();
  }
  [[nodiscard]] std::string refusal() const {
    return tests::problem_of([&] { Adapter{directory_.path()}; });
  }
  /// Replaces a part of adapter_config.json and returns why it is refused.
  [[nodiscard]] std::string with(const std::string& from, const std::string& to) const {
    std::string text = adapter_config_text(config_);
    text.replace(text.find(from), from.size(), to);
    tests::write_file(directory_ / "adapter_config.json", text);
    return refusal();
  }
  [[nodiscard]] std::string file(const char* name) const { return (directory_ / name).string(); }

  tests::TemporaryDirectory directory_;
  AdapterConfig config_{.lora = {.rank = 2, .alpha = 6, .dropout = 0.05, .targets = {map}},
                        .base = "org/base",
                        .revision = "v1"};
  std::vector<std::vector<float>> numbers_;
  std::vector<TensorView> tensors_;
};

TEST_F(AdapterFolder, HasAPairOfFactorsForEachPartOfALayer) {
  numbers_.reserve(9);
  add_factors();
  for (std::size_t i = 0; i < numbers_[1].size(); ++i) numbers_[1][i] = static_cast<float>(i);
  constexpr std::array<PeftName, 1> names{{{"query", {"q", "k"}}}};
  write_adapter(directory_.path(), config_, tensors_, names);
  const Adapter adapter{directory_.path()};
  EXPECT_EQ(adapter.tensors().size(), 4U);
  const std::string layer = map.substr(0, map.rfind('.') + 1);
  EXPECT_EQ(to_floats(*adapter.find(layer + "q.lora_A.weight")), numbers_[0]);
  EXPECT_EQ(to_floats(*adapter.find(layer + "k.lora_A.weight")), numbers_[0]);
  EXPECT_EQ(to_floats(*adapter.find(layer + "q.lora_B.weight")), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(to_floats(*adapter.find(layer + "k.lora_B.weight")), (std::vector<float>{4, 5, 6, 7}));
  const auto config = json::Document::load(directory_ / "adapter_config.json");
  const auto targets = config.root().at("target_modules").items();
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0].string(), layer + "q");
  EXPECT_EQ(targets[1].string(), layer + "k");
}

TEST_F(AdapterFolder, IsReadAsItWasWritten) {
  numbers_.reserve(9);
  add_factors();
  add("classifier.weight", {3, 4});
  write();
  EXPECT_TRUE(is_adapter(directory_.path()));
  const Adapter adapter{directory_.path()};
  EXPECT_EQ(adapter.config().base, "org/base");
  EXPECT_EQ(adapter.config().revision, "v1");
  EXPECT_EQ(adapter.config().lora.scale(), 3);
  EXPECT_EQ(adapter.config().lora.dropout, 0.05);
  EXPECT_EQ(adapter.tensors().size(), 3U);
  const auto b = adapter.find(map + ".lora_B.weight");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->shape, (std::vector<std::int64_t>{4, 2}));
  EXPECT_FALSE(adapter.find(map + ".weight"));
}

TEST_F(AdapterFolder, NamesTheModulesOfItsHead) {
  numbers_.reserve(9);
  add_factors();
  const auto modules = [&] {
    write();
    const auto config = json::Document::load(directory_ / "adapter_config.json");
    std::vector<std::string> names;
    for (const auto& name : config.root().at("modules_to_save").items()) {
      names.emplace_back(name.string());
    }
    return names;
  };
  EXPECT_EQ(modules(), std::vector<std::string>{});
  add("classifier.out_proj.weight", {1, 4});
  EXPECT_EQ(modules(), std::vector<std::string>{"classifier"});
  add("bert.pooler.dense.bias", {4});
  add("contact_head.weight", {1, 4});
  EXPECT_EQ(modules(), (std::vector<std::string>{"classifier", "pooler"}));
}

TEST_F(AdapterFolder, OfTheOlderFormatIsReadUnlessThereIsTheNewerOne) {
  numbers_.reserve(9);
  add_factors();
  write();
  std::filesystem::remove(directory_ / "adapter_model.safetensors");
  for (auto& tensor : tensors_) tensor.name.insert(0, adapter_prefix);
  write_torch_file(directory_ / "adapter_model.bin", tensors_);
  const Adapter adapter{directory_.path()};
  EXPECT_EQ(adapter.tensors().size(), 2U);
  const auto a = adapter.find(map + ".lora_A.weight");
  ASSERT_TRUE(a);
  EXPECT_EQ(to_floats(*a), std::vector<float>(16, 0.5F));
  tests::write_file(directory_ / "adapter_model.bin", "no zip archive");
  EXPECT_TRUE(refusal().starts_with(file("adapter_model.bin"))) << refusal();
  write_safetensors(directory_ / "adapter_model.safetensors", tensors_);
  EXPECT_EQ(refusal(), "nothing was thrown");
}

TEST_F(AdapterFolder, TellsTheLabelsOfItsHead) {
  numbers_.reserve(9);
  const auto count = [&] {
    write();
    return Adapter{directory_.path()}.label_count();
  };
  EXPECT_EQ(count(), std::nullopt);
  add("classifier.weight", {5, 4});
  EXPECT_EQ(count(), 5);
  tensors_.clear();
  add("classifier.out_proj.weight", {1, 4});
  EXPECT_EQ(count(), 1);
  tensors_.clear();
  add("classifier.weight", {std::int64_t{1} << 40, 0});
  EXPECT_EQ(count(), std::nullopt);
}

TEST_F(AdapterFolder, IsNoneBesideAWholeModel) {
  numbers_.reserve(9);
  add_factors();
  write();
  tests::write_file(directory_ / "model.safetensors", "");
  EXPECT_FALSE(is_adapter(directory_.path()));
}

TEST_F(AdapterFolder, WithAFactorAloneIsRefused) {
  add(map + ".lora_A.weight", {2, 8});
  EXPECT_EQ(problem(), file("adapter_model.safetensors") + ": base_model.model." + map +
                           ".lora_B.weight: is missing");
}

TEST_F(AdapterFolder, OfAnotherRankIsRefused) {
  numbers_.reserve(9);
  add(map + ".lora_A.weight", {3, 8});
  add(map + ".lora_B.weight", {4, 3});
  EXPECT_EQ(problem(), file("adapter_model.safetensors") + ": base_model.model." + map +
                           ".lora_A.weight: has shape [3, 8], which is not of rank 2");
}

/// PEFT gives one to ESM's linear layer with one output, too.
TEST_F(AdapterFolder, OfARankAboveALayersSizeIsRead) {
  config_.lora.rank = 3;
  numbers_.reserve(9);
  add(map + ".lora_A.weight", {3, 4});
  add(map + ".lora_B.weight", {2, 3});
  EXPECT_EQ(problem(), "nothing was thrown");
}

TEST_F(AdapterFolder, OfALayerWithoutInputsIsRefused) {
  numbers_.reserve(9);
  add(map + ".lora_A.weight", {2, 0});
  add(map + ".lora_B.weight", {4, 2});
  EXPECT_EQ(problem(), file("adapter_model.safetensors") + ": base_model.model." + map +
                           ".lora_A.weight: has shape [2, 0], which is not of rank 2");
}

TEST_F(AdapterFolder, WithNumbersThatAreNotFiniteIsRefused) {
  numbers_.reserve(9);
  for (const float wrong :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    tensors_.clear();
    add_factors();
    add("classifier.bias", {3}, wrong);
    EXPECT_EQ(problem(),
              file("adapter_model.safetensors") +
                  ": base_model.model.classifier.bias: holds a number that is not finite");
  }
}

TEST_F(AdapterFolder, WithNamesOfNoAdapterIsRefused) {
  numbers_.reserve(9);
  add_factors();
  write();
  write_safetensors(directory_ / "adapter_model.safetensors", tensors_);
  EXPECT_NE(refusal().find("which begins with base_model.model."), std::string::npos);
}

TEST_F(AdapterFolder, WithoutItsTensorsIsRefused) {
  numbers_.reserve(9);
  add_factors();
  write();
  std::filesystem::remove(directory_ / "adapter_model.safetensors");
  EXPECT_TRUE(refusal().starts_with(file("adapter_model.safetensors"))) << refusal();
}

TEST_F(AdapterFolder, OfAnotherKindIsRefused) {
  numbers_.reserve(9);
  add_factors();
  write();
  EXPECT_NE(
      with("\"LORA\"", "\"IA3\"").find(R"(peft_type: "IA3" is not supported; merge the adapter)"),
      std::string::npos);
  EXPECT_NE(with("\"SEQ_CLS\"", "\"CAUSAL_LM\"").find(R"(task_type: "CAUSAL_LM" is not supported)"),
            std::string::npos);
  EXPECT_NE(with("\"r\": 2", "\"r\": 0").find("r: must be at least 1"), std::string::npos);
  EXPECT_NE(
      with("\"r\": 2", "\"r\": 2, \"use_dora\": true").find("use_dora: true is not supported"),
      std::string::npos);
  EXPECT_NE(with("\"r\": 2", R"("r": 2, "rank_pattern": {"query": 4})").find("rank_pattern"),
            std::string::npos);
  EXPECT_NE(with("\"none\"", "\"all\"").find(R"(bias: "all" is not supported)"), std::string::npos);
  EXPECT_NE(with("\"init_lora_weights\": true", R"("init_lora_weights": "pissa")")
                .find(R"(init_lora_weights: "pissa")"),
            std::string::npos);
  EXPECT_NE(with("\"lora_alpha\"", "\"alpha\"").find("lora_alpha"), std::string::npos);
  EXPECT_NE(with("\"r\": 2", R"("r": 2, "layer_replication": [[0, 3]])").find("layer_replication"),
            std::string::npos);
  EXPECT_NE(with("\"lora_alpha\": 6", "\"lora_alpha\": 1e300").find("lora_alpha: is not a number"),
            std::string::npos);
}

/// PEFT's own merge_and_unload refuses these, or changes what the model computes.
TEST_F(AdapterFolder, ThatCannotBeMergedIsNotToldToBe) {
  for (const char* method :
       {"PROMPT_TUNING", "P_TUNING", "PREFIX_TUNING", "MULTITASK_PROMPT_TUNING", "CPT", "LILY"}) {
    EXPECT_EQ(with("\"LORA\"", "\"" + std::string{method} + "\""),
              file("adapter_config.json") + ": peft_type: \"" + method +
                  "\" is not supported; PEFT cannot merge it into a model either; train an adapter "
                  "of LoRA");
  }
  for (const char* option :
       {R"("alora_invocation_tokens": [5])", R"("layer_replication": [[0, 2], [1, 2]])"}) {
    const auto problem = with("\"r\": 2", "\"r\": 2, " + std::string{option});
    EXPECT_TRUE(problem.ends_with("; train an adapter of LoRA")) << problem;
  }
  const auto problem = with("\"SEQ_CLS\"", "\"TOKEN_CLS\"");
  EXPECT_TRUE(
      problem.ends_with("; train one with the task_type SEQ_CLS, for a classifier of texts"))
      << problem;
}

TEST_F(AdapterFolder, OfEmbeddingsIsToldToBeMerged) {
  const std::string merge = "; merge the adapter by PEFT's merge_and_unload, and name the result";
  EXPECT_EQ(
      with("\"r\": 2", R"("r": 2, "trainable_token_indices": [5, 6])"),
      file("adapter_config.json") + ": trainable_token_indices: [5,6] is not supported" + merge);
  numbers_.reserve(9);
  add("bert.embeddings.word_embeddings.lora_embedding_A", {2, 40});
  EXPECT_EQ(problem(),
            file("adapter_model.safetensors") +
                ": base_model.model.bert.embeddings.word_embeddings.lora_embedding_A: adapts an "
                "embedding, which is not supported" +
                merge);
}

TEST_F(AdapterFolder, ThatIsDamagedIsRefused) {
  numbers_.reserve(9);
  add_factors();
  write();
  for (const char* name : {"adapter_config.json", "adapter_model.safetensors"}) {
    const auto path = directory_ / name;
    const auto whole = tests::read_file(path);
    for (std::size_t size = 0; size < whole.size(); size += 7) {
      tests::write_file(path, whole.substr(0, size));
      EXPECT_NE(refusal(), "nothing was thrown") << name << " of " << size << " bytes";
    }
    tests::write_file(path, whole);
  }
  EXPECT_EQ(refusal(), "nothing was thrown");
}

TEST(LoRA, AdaptsMapsByTheirNames) {
  const auto adapts = [](const char* target, const char* name) { return LoRA::fits(target, name); };
  EXPECT_TRUE(adapts("all", "bert.encoder.layer.0.output.dense"));
  EXPECT_TRUE(adapts("output.dense", "bert.encoder.layer.0.attention.output.dense"));
  EXPECT_FALSE(adapts("put.dense", "bert.encoder.layer.0.output.dense"));
  EXPECT_TRUE(adapts("attention", "bert.encoder.layer.0.attention.self.key"));
  EXPECT_TRUE(adapts("attention", "model.layers.0.attn.Wqkv"));
  EXPECT_FALSE(adapts("attention", "model.layers.0.mlp.Wi"));
}

}  // namespace
}  // namespace seqtrain::weights
