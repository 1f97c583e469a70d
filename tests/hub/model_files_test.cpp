#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/model_files.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::hub {
namespace {

using Files = std::vector<std::string>;

TEST(ModelFiles, LeavesOutWhatIsNotNeeded) {
  EXPECT_EQ(
      model_files({".gitattributes", "README.md", "config.json", "flax_model.msgpack", "merges.txt",
                   "model.safetensors", "onnx/model.onnx", "pytorch_model.bin", "tokenizer.json",
                   "vocab.json"},
                  "m"),
      (Files{"config.json", "tokenizer.json", "vocab.json", "merges.txt", "model.safetensors"}));
  EXPECT_EQ(model_files({"config.json", "pytorch_model.bin", "vocab.txt"}, "m"),
            (Files{"config.json", "vocab.txt", "pytorch_model.bin"}));
  EXPECT_EQ(model_files({"config.json", "model-00001-of-00002.safetensors",
                         "model.safetensors.index.json", "pytorch_model.bin", "tokenizer.json"},
                        "m"),
            (Files{"config.json", "tokenizer.json", "model.safetensors.index.json"}));
  EXPECT_EQ(
      model_files({"config.json", "config_sentence_transformers.json", "model.safetensors"}, "m"),
      (Files{"config.json", "config_sentence_transformers.json", "model.safetensors"}));
}

TEST(ModelFiles, TakesASentencePieceModelIfThereIsNoTokenizerJson) {
  const std::vector<std::string> all{"config.json", "spm.model", "tokenizer_config.json",
                                     "model.safetensors"};
  EXPECT_EQ(model_files(all, "org/m"),
            (std::vector<std::string>{"config.json", "tokenizer_config.json", "spm.model",
                                      "model.safetensors"}));
  auto with_json = all;
  with_json.emplace_back("tokenizer.json");
  EXPECT_EQ(model_files(with_json, "org/m"),
            (std::vector<std::string>{"config.json", "tokenizer.json", "tokenizer_config.json",
                                      "model.safetensors"}));
}

TEST(ModelFiles, TakesAnAdapterUnlessThereIsAWholeModel) {
  EXPECT_EQ(model_files({"README.md", "adapter_config.json", "adapter_model.safetensors"}, "m"),
            (Files{"adapter_config.json", "adapter_model.safetensors"}));
  EXPECT_EQ(
      model_files({"adapter_config.json", "adapter_model.safetensors", "config.json", "vocab.txt"},
                  "m"),
      (Files{"config.json", "vocab.txt", "adapter_config.json", "adapter_model.safetensors"}));
  EXPECT_EQ(model_files({"adapter_config.json", "config.json", "model.safetensors"}, "m"),
            (Files{"config.json", "model.safetensors"}));
}

TEST(ModelFiles, SaysWhatIsMissing) {
  EXPECT_NE(tests::problem_of([] {
              static_cast<void>(model_files({"model.safetensors"}, "org/m"));
            }).find("org/m: has no config.json"),
            std::string::npos);
  EXPECT_NE(tests::problem_of([] {
              static_cast<void>(model_files({"config.json", "tf_model.h5"}, "org/m"));
            }).find("no weights in a known format"),
            std::string::npos);
}

TEST(WholeModel, NeedsEachShard) {
  const tests::TemporaryDirectory folder;
  tests::write_file(folder / "config.json", "{}");
  EXPECT_FALSE(is_whole_model(folder.path()));
  tests::write_file(folder / "tokenizer.json", "{}");
  tests::write_file(folder / "model.safetensors.index.json",
                    R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  tests::write_file(folder / "one.safetensors", "");
  EXPECT_FALSE(is_whole_model(folder.path()));
  tests::write_file(folder / "two.safetensors", "");
  EXPECT_TRUE(is_whole_model(folder.path()));
  tests::write_file(folder / "model.safetensors.index.json", "{");
  EXPECT_FALSE(is_whole_model(folder.path()));
}

}  // namespace
}  // namespace seqtrain::hub
