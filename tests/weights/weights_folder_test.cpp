#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/weights_folder.hpp>

#include "support/corrupt.hpp"
#include "support/golden_tensors.hpp"
#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

namespace fs = std::filesystem;

std::vector<TensorView> all(const WeightsFolder& checkpoint) {
  std::vector<TensorView> tensors;
  for (const auto& name : checkpoint.names()) tensors.push_back(*checkpoint.find(name));
  return tensors;
}

std::string refusal(const fs::path& directory) {
  return tests::refusal([&] { WeightsFolder{directory}; });
}

class CheckpointTest : public testing::Test {
 protected:
  void copy(const char* from, const char* to) {
    fs::copy_file(tests::golden_weights() / from, directory_ / to);
  }

  void write_index(const std::string& weight_map) {
    tests::write_file(directory_ / "model.safetensors.index.json",
                      R"({"weight_map": )" + weight_map + "}");
  }

  tests::TemporaryDirectory directory_;
};

TEST(SentenceFolder, IsThatOfAnAdapterIfItHasModules) {
  const tests::TemporaryDirectory base, adapter;
  EXPECT_EQ(sentence_folder(base.path(), {}), base.path());
  tests::write_file(adapter / adapter_config_name, "{}");
  tests::write_file(adapter / "adapter_model.safetensors", "");
  EXPECT_EQ(sentence_folder(adapter.path(), base.path()), base.path());
  tests::write_file(adapter / "modules.json", "[]");
  EXPECT_EQ(sentence_folder(adapter.path(), base.path()), adapter.path());
}

TEST_F(CheckpointTest, OpensOneFile) {
  copy("dtypes.safetensors", "model.safetensors");
  const WeightsFolder checkpoint{directory_.path()};
  tests::expect_golden(all(checkpoint), tests::golden_weights() / "dtypes.json");
  EXPECT_FALSE(checkpoint.find("absent"));
}

TEST_F(CheckpointTest, OpensWhatLightningSaves) {
  copy("lightning.pth", "pytorch_model.bin");
  const WeightsFolder checkpoint{directory_.path()};
  tests::expect_golden(all(checkpoint), tests::golden_weights() / "module.json");
}

TEST_F(CheckpointTest, KnowsThePlaceOfATensor) {
  fs::copy(tests::golden_weights() / "sharded", directory_.path());
  const WeightsFolder checkpoint{directory_.path()};
  const auto place = [&](const std::string& name) {
    const Where where = checkpoint.where(name);
    EXPECT_EQ(where.field, name);
    return where.object;
  };
  EXPECT_EQ(place("layer.bias"), (directory_ / "model-00002-of-00002.safetensors").string());
  EXPECT_EQ(place("absent"), (directory_ / "model.safetensors.index.json").string());
}

/// Returns the kilobytes of this process's memory that are parts of files.
std::size_t mapped_kilobytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stoul(line.substr(8));
  }
  return 0;
}

TEST_F(CheckpointTest, ForgottenBytesTakeNoMemoryAndStayReadable) {
  const std::vector<float> values(4 << 20, 1.5F);
  const TensorView written{
      .name = "large", .shape = {4 << 20}, .bytes = std::as_bytes(std::span{values})};
  write_safetensors(directory_ / "model.safetensors", std::span{&written, 1});
  const WeightsFolder checkpoint{directory_.path()};
  const auto tensor = *checkpoint.find("large");
  ASSERT_TRUE(std::ranges::equal(tensor.bytes, written.bytes));
  const std::size_t before = mapped_kilobytes();
  checkpoint.file_of(tensor)->forget(tensor);
  EXPECT_LT(mapped_kilobytes() + 15 * 1024, before);
  EXPECT_TRUE(std::ranges::equal(tensor.bytes, written.bytes));
}

TEST_F(CheckpointTest, TellsThatAFileWasRewrittenInPlace) {
  const std::vector<float> values(4 << 20, 1.5F);
  const TensorView written{
      .name = "large", .shape = {4 << 20}, .bytes = std::as_bytes(std::span{values})};
  const auto file = directory_ / "model.safetensors";
  write_safetensors(file, std::span{&written, 1});
  const WeightsFolder checkpoint{directory_.path()};
  write_safetensors(file, std::span{&written, 1});  // which replaces it by rename
  EXPECT_NO_THROW(checkpoint.check_unchanged());
  const WeightsFolder other{directory_.path()};
  fs::resize_file(file, 1000);
  EXPECT_FALSE(std::ranges::equal(other.find("large")->bytes, written.bytes));
  EXPECT_NE(tests::problem_of([&] { other.check_unchanged(); }).find("was changed while"),
            std::string::npos);
  EXPECT_TRUE(std::ranges::equal(checkpoint.find("large")->bytes, written.bytes));
  EXPECT_NO_THROW(checkpoint.check_unchanged());
}

TEST_F(CheckpointTest, BytesLiveAsLongAsTheirFile) {
  const auto folder = tests::golden_weights() / "sharded";
  const auto [tensor, file] = [&] {
    const WeightsFolder checkpoint{folder};
    const auto found = *checkpoint.find(checkpoint.names().back());
    return std::pair{found, checkpoint.file_of(found)};
  }();
  const WeightsFolder again{folder};
  EXPECT_TRUE(std::ranges::equal(tensor.bytes, again.find(tensor.name)->bytes));
}

TEST_F(CheckpointTest, OtherBytesAreInNoneOfItsFiles) {
  copy("dtypes.safetensors", "model.safetensors");
  const std::vector<float> values(4, 1.5F);
  const WeightsFolder checkpoint{directory_.path()};
  EXPECT_EQ(checkpoint.file_of({.name = "values", .bytes = std::as_bytes(std::span{values})}),
            nullptr);
}

TEST_F(CheckpointTest, OpensShardsByTheirIndex) {
  const WeightsFolder checkpoint{tests::golden_weights() / "sharded"};
  tests::expect_golden(all(checkpoint), tests::golden_weights() / "sharded.json");
}

TEST_F(CheckpointTest, OpensATorchFile) {
  copy("views.pth", "pytorch_model.bin");
  tests::expect_golden(all(WeightsFolder{directory_.path()}),
                       tests::golden_weights() / "views.json");
}

TEST_F(CheckpointTest, OpensTorchShardsByTheirIndex) {
  copy("module.pth", "pytorch_model-00001-of-00001.bin");
  tests::write_file(directory_ / "pytorch_model.bin.index.json",
                    R"({"weight_map": {"0.bias": "pytorch_model-00001-of-00001.bin"}})");
  const WeightsFolder checkpoint{directory_.path()};
  EXPECT_EQ(checkpoint.names(), std::vector<std::string>{"0.bias"});
}

TEST_F(CheckpointTest, SafetensorsComeBeforeTorchFiles) {
  copy("dtypes.safetensors", "model.safetensors");
  copy("module.pth", "pytorch_model.bin");
  EXPECT_TRUE(WeightsFolder{directory_.path()}.find("float32"));
}

TEST_F(CheckpointTest, NamesTheFilesThatAreRead) {
  using Files = std::vector<fs::path>;
  const fs::path directory = directory_.path();
  EXPECT_EQ(weights_files(directory), Files{});
  tests::write_file(directory / "pytorch_model.bin", "");
  EXPECT_EQ(weights_files(directory), Files{directory / "pytorch_model.bin"});
  write_index(R"({"a": "2.safetensors", "b": "1.safetensors", "c": "2.safetensors"})");
  EXPECT_EQ(weights_files(directory),
            (Files{directory / "model.safetensors.index.json", directory / "1.safetensors",
                   directory / "2.safetensors"}));
}

TEST_F(CheckpointTest, AModelAndAnAdapterInOneDirectoryAreRefused) {
  copy("dtypes.safetensors", "model.safetensors");
  tests::write_file(directory_ / "adapter_config.json", "{}");
  EXPECT_EQ(refusal(directory_.path()),
            directory_.path().string() +
                ": holds a model and, by its adapter_config.json, an adapter too; put the one that "
                "you mean into a folder of its own, and name that");
}

TEST_F(CheckpointTest, AHeadOfSetfitIsTakenIfItIsAskedFor) {
  fs::copy_file(tests::golden() / "sentence" / "model.safetensors",
                directory_ / "model.safetensors");
  fs::copy_file(tests::golden() / "setfit" / "three.pkl", directory_ / "model_head.pkl");
  tests::write_file(directory_ / "config_setfit.json", R"({"normalize_embeddings": true})");
  WeightsFolder checkpoint{directory_.path()};
  EXPECT_EQ(checkpoint.setfit_head(), nullptr);
  EXPECT_FALSE(checkpoint.find("linear.weight"));
  checkpoint.take_setfit_head();
  ASSERT_NE(checkpoint.setfit_head(), nullptr);
  ASSERT_TRUE(checkpoint.sentence());
  EXPECT_TRUE(checkpoint.sentence()->normalizes && checkpoint.sentence()->mean_pooling);
  const WeightsFolder moved = std::move(checkpoint);
  ASSERT_TRUE(moved.find("linear.weight"));
  EXPECT_EQ(to_floats(*moved.find("linear.weight")),
            to_floats(moved.setfit_head()->tensors().front()));
  EXPECT_EQ(moved.find("linear.bias")->shape, (std::vector<std::int64_t>{3}));
}

TEST_F(CheckpointTest, CanBeMoved) {
  WeightsFolder checkpoint{tests::golden_weights() / "sharded"};
  const WeightsFolder moved = std::move(checkpoint);
  tests::expect_golden(all(moved), tests::golden_weights() / "sharded.json");
}

TEST_F(CheckpointTest, OneFileComesBeforeAnIndex) {
  copy("dtypes.safetensors", "model.safetensors");
  write_index(R"({"w": "absent.safetensors"})");
  EXPECT_TRUE(WeightsFolder{directory_.path()}.find("float32"));
}

TEST_F(CheckpointTest, AnEmptyDirectoryHearsWhatWasLookedFor) {
  const auto text = refusal(directory_.path());
  EXPECT_NE(text.find(directory_.path().string() + ": holds no model"), std::string::npos) << text;
  EXPECT_NE(text.find("model.safetensors"), std::string::npos) << text;
  EXPECT_NE(refusal(directory_ / "absent").find("no such directory"), std::string::npos);
}

TEST_F(CheckpointTest, AnIndexMustBeTrue) {
  copy("dtypes.safetensors", "one.safetensors");
  write_index(R"({"float32": "one.safetensors", "w": "one.safetensors"})");
  EXPECT_NE(refusal(directory_.path()).find("weight_map.w: one.safetensors has no such tensor"),
            std::string::npos);
  write_index(R"({"w": "two.safetensors"})");
  EXPECT_NE(refusal(directory_.path()).find("the file two.safetensors is missing"),
            std::string::npos);
  write_index(R"({"w": 1})");
  EXPECT_NE(refusal(directory_.path()).find("weight_map.w: expected a string"), std::string::npos);
}

TEST_F(CheckpointTest, AnIndexStaysInItsDirectory) {
  for (const std::string shard : {"../one.safetensors", "/one.safetensors", "sub/one", ""}) {
    write_index("{\"w\": \"" + shard + "\"}");
    EXPECT_NE(refusal(directory_.path()).find("is not a file in this directory"), std::string::npos)
        << shard;
  }
}

}  // namespace
}  // namespace seqtrain::weights
