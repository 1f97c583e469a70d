#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/experiment/run_settings.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::experiment {
namespace {

using tests::write_file;

TEST(Fingerprint, IsOfTheContentNotTheName) {
  const tests::TemporaryDirectory directory;
  const auto a = write_file(directory / "a", "123456789");
  const auto b = write_file(directory / "b", "123456789");
  EXPECT_EQ(fingerprint(a), "9 bytes, crc32c e3069283");
  EXPECT_EQ(fingerprint(a), fingerprint(b));
  EXPECT_NE(fingerprint(write_file(directory / "b", "123456780")), fingerprint(a));
  EXPECT_EQ(fingerprint(directory.path()).substr(0, 8), "18 bytes");
}

TEST(Fingerprint, OfAnEmptyFileIsOfNoBytes) {
  const tests::TemporaryDirectory directory;
  const auto file = write_file(directory / "empty", "");
  EXPECT_EQ(fingerprint(file), "0 bytes, crc32c 00000000");
  EXPECT_EQ(fingerprint(directory.path()), fingerprint(file));
  EXPECT_EQ(fingerprint(directory.path()), fingerprint(file));
  EXPECT_THROW((void)fingerprint(directory / "missing"), InputError);
}

class FingerprintOfModel : public testing::Test {
 protected:
  /// Tells whether writing `text` to a file of the model changes the fingerprint.
  bool depends_on(const std::string& name, const std::string& text = "{\"changed\": true}") {
    const std::string before = fingerprint_of_model(directory_.path());
    write_file(directory_ / name, text);
    return fingerprint_of_model(directory_.path()) != before;
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(FingerprintOfModel, IsOfConfigWeightsAndTokenizer) {
  for (const char* name :
       {"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
        "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "vocabulary.txt"}) {
    EXPECT_TRUE(depends_on(name)) << name;
    EXPECT_TRUE(depends_on(name, "other")) << name;
  }
  for (const char* name : {"README.md", "training_args.bin", "optimizer.pt", ".gitattributes"}) {
    EXPECT_FALSE(depends_on(name)) << name;
    EXPECT_FALSE(depends_on(name, "")) << name;
  }
}

TEST_F(FingerprintOfModel, IsOfTheWeightsThatAreLoaded) {
  EXPECT_FALSE(depends_on("pytorch_model-1.bin", "shard"));
  EXPECT_TRUE(depends_on("pytorch_model.bin.index.json",
                         R"({"weight_map": {"a": "pytorch_model-1.bin", "b": "gone.bin"}})"));
  EXPECT_TRUE(depends_on("pytorch_model-1.bin", "other"));
  EXPECT_TRUE(depends_on("pytorch_model.bin"));
  EXPECT_FALSE(depends_on("pytorch_model-1.bin", "shard"));
  EXPECT_TRUE(
      depends_on("model.safetensors.index.json", R"({"weight_map": {"a": "1.safetensors"}})"));
  EXPECT_FALSE(depends_on("pytorch_model.bin", "other"));
  EXPECT_TRUE(depends_on("1.safetensors"));
  EXPECT_TRUE(depends_on("model.safetensors"));
  EXPECT_FALSE(depends_on("1.safetensors", "other"));
}

TEST_F(FingerprintOfModel, IsOfAnAdapter) {
  write_file(directory_ / "adapter_config.json", "{}");
  EXPECT_TRUE(depends_on("adapter_model.safetensors"));
  EXPECT_TRUE(depends_on("adapter_config.json"));
  EXPECT_FALSE(depends_on("README.md"));
}

TEST_F(FingerprintOfModel, IsOfTheHeadOfASentenceClassifier) {
  write_file(directory_ / "config.json", R"({"architectures": ["BertModel"], "problem_type":
      "single_label_classification", "id2label": {"0": "a", "1": "b"}})");
  write_file(directory_ / "modules.json", R"([{"type": "m.Transformer", "path": ""},
      {"type": "m.Pooling", "path": "1"}, {"type": "m.Dense", "path": "2"}])");
  std::filesystem::create_directory(directory_ / "1");
  std::filesystem::create_directory(directory_ / "2");
  write_file(directory_ / "1/config.json", "{}");
  write_file(directory_ / "2/config.json", R"({"out_features": 2, "bias": true,
      "activation_function": "torch.nn.modules.linear.Identity"})");
  EXPECT_TRUE(depends_on("2/model.safetensors"));
  EXPECT_TRUE(depends_on("2/model.safetensors", "other"));
}

TEST(Fingerprint, OfATextFolderIsOfLabelsAndTexts) {
  const tests::TemporaryDirectory directory;
  for (const char* label : {"neg", "pos"}) {
    std::filesystem::create_directories(directory / label);
    write_file(directory.path() / label / "a.txt", "1234");
  }
  write_file(directory / "urls.txt", "http://");
  const std::string print = fingerprint_of_examples(directory.path());
  EXPECT_EQ(print.substr(0, 8), "14 bytes");
  std::filesystem::rename(directory / "neg/a.txt", directory / "neg/b.txt");
  EXPECT_EQ(fingerprint_of_examples(directory.path()), print);
  std::filesystem::rename(directory / "neg/b.txt", directory / "pos/b.txt");
  write_file(directory / "neg/a.txt", "");
  EXPECT_NE(fingerprint_of_examples(directory.path()), print);
  const auto file = write_file(directory / "train.jsonl", "1");
  EXPECT_EQ(fingerprint_of_examples(file), fingerprint(file));
}

TEST(RunSettings, HaveFingerprintsInPlaceOfPaths) {
  const tests::TemporaryDirectory directory;
  cli::TrainFlags flags;
  flags.model = directory.path().string();
  write_file(directory / "config.json", "333");
  flags.train_file = write_file(directory / "train.jsonl", "1").string();
  flags.dev_file = write_file(directory / "dev.jsonl", "22").string();
  const auto settings = run_settings({{"seed", "7"}, {"learning-rate", "1e-4"}}, flags, "bf16");
  const auto value = [&](const std::string& name) {
    const auto found =
        std::ranges::find(settings, name, [](const auto& pair) { return pair.first; });
    return found == settings.end() ? "unset" : found->second;
  };
  EXPECT_EQ(value("seed"), "7");
  EXPECT_EQ(value("learning-rate"), "1e-4");
  EXPECT_EQ(value("precision"), "bf16");
  EXPECT_EQ(value("train-file").substr(0, 7), "1 bytes");
  EXPECT_EQ(value("dev-file").substr(0, 7), "2 bytes");
  EXPECT_EQ(value("model").substr(0, 7), "3 bytes");
  EXPECT_EQ(value("dev-fraction"), "");
}

TEST(RunSettings, HaveTheFractionInPlaceOfADevFile) {
  const tests::TemporaryDirectory directory;
  cli::TrainFlags flags;
  flags.model = directory.path().string();
  write_file(directory / "config.json", "333");
  flags.train_file = write_file(directory / "train.jsonl", "1").string();
  flags.dev_file = "";
  flags.dev_fraction = 0.25;
  const auto settings = run_settings({}, flags, "bf16");
  EXPECT_EQ(std::ranges::count(settings, std::pair<std::string, std::string>{"dev-file", ""}), 1);
  EXPECT_EQ(
      std::ranges::count(settings, std::pair<std::string, std::string>{"dev-fraction", "0.25"}), 1);
}

}  // namespace
}  // namespace seqtrain::experiment
