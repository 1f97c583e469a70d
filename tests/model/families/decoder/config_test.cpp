#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/model/families/gemma/config.hpp>
#include <seqtrain/model/families/llama/config.hpp>
#include <seqtrain/model/families/mistral/config.hpp>
#include <seqtrain/model/families/qwen3/config.hpp>
#include <seqtrain/model/families/smollm3/config.hpp>

namespace seqtrain::model {
namespace {

weights::ConfigFile file_of(const std::string& family, const std::string& members) {
  return weights::ConfigFile::parse(R"({"model_type": ")" + family + '"' + members + "}");
}

std::vector<std::int64_t> windows_of_layers(const DecoderConfig& config) {
  std::vector<std::int64_t> result;
  for (const auto& layer : config.layers) result.push_back(layer.window);
  return result;
}

TEST(DecoderConfig, HasHeadsOfItsOwnSizeAndNumber) {
  const auto llama = read_llama_config(file_of("llama", ""));
  EXPECT_EQ(llama.key_heads, 32);
  EXPECT_EQ(llama.head_size, 128);
  const auto own = read_llama_config(
      file_of("llama", R"(, "num_key_value_heads": 8, "head_dim": 64, "hidden_size": 1024)"));
  EXPECT_EQ(own.key_heads, 8);
  EXPECT_EQ(own.head_size, 64);
  EXPECT_EQ(read_mistral_config(file_of("mistral", "")).key_heads, 8);
  EXPECT_EQ(read_mistral_config(file_of("mistral", R"(, "num_key_value_heads": null)")).key_heads,
            32);
}

TEST(DecoderConfig, ReadsRotaryPositionsOfOldFilesAndOfNewOnes) {
  const auto rope = [](const std::string& members) {
    return read_llama_config(file_of("llama", members)).layers.front().rope;
  };
  EXPECT_EQ(rope("").base, 10'000);
  EXPECT_EQ(rope(R"(, "rope_theta": 500.0)").base, 500);
  EXPECT_EQ(rope(R"(, "rope_theta": 5.0, "rope_parameters": {"rope_theta": 7.0})").base, 7);
  const Rope linear{
      .base = 5, .scaling = Rope::Scaling::linear, .factor = 2, .original_length = 2048};
  EXPECT_EQ(rope(R"(, "rope_theta": 5, "rope_scaling": {"type": "linear", "factor": 2})"), linear);
  const auto yarn = rope(R"(, "max_position_embeddings": 400, "rope_scaling": {"rope_type": "yarn",
      "original_max_position_embeddings": 100})");
  EXPECT_EQ(yarn.factor, 4);
  EXPECT_DOUBLE_EQ(yarn.magnitude, 0.1 * std::log(4.0) + 1);
}

TEST(DecoderConfig, GivesWindowsToLayers) {
  const std::string two = R"(, "num_hidden_layers": 2)";
  EXPECT_EQ(windows_of_layers(read_mistral_config(file_of("mistral", two))),
            (std::vector<std::int64_t>{4096, 4096}));
  EXPECT_EQ(windows_of_layers(
                read_mistral_config(file_of("mistral", two + R"(, "sliding_window": null)"))),
            (std::vector<std::int64_t>{0, 0}));
  const std::string used = two + R"(, "use_sliding_window": true, "sliding_window": 8)";
  EXPECT_EQ(
      windows_of_layers(read_qwen3_config(file_of("qwen3", two + R"(, "sliding_window": 8)"))),
      (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(
      windows_of_layers(read_qwen3_config(file_of("qwen3", used + R"(, "max_window_layers": 1)"))),
      (std::vector<std::int64_t>{0, 8}));
  EXPECT_EQ(windows_of_layers(read_gemma2_config(file_of("gemma2", two))),
            (std::vector<std::int64_t>{4096, 0}));
}

TEST(SmolLM3Config, LeavesPositionsOutOfEachFourthLayer) {
  const auto config = read_smollm3_config(file_of("smollm3", R"(, "num_hidden_layers": 4)"));
  EXPECT_EQ(config.layers[2].rope.base, 2'000'000);
  EXPECT_EQ(config.layers[3].rope.base, 0);
}

TEST(Gemma3TextConfig, HasOtherPositionsInLayersWithAWindow) {
  const auto config = read_gemma3_text_config(file_of("gemma3_text", R"(,
      "num_hidden_layers": 2, "sliding_window_pattern": 2, "rope_theta": 500.0,
      "rope_local_base_freq": 50.0, "rope_scaling": {"rope_type": "linear", "factor": 8.0})"));
  EXPECT_EQ(config.layers[0].rope, Rope{.base = 50});
  EXPECT_EQ(config.layers[1].rope.base, 500);
  EXPECT_EQ(config.layers[1].rope.factor, 8);
}

}  // namespace
}  // namespace seqtrain::model
