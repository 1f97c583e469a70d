#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/program.hpp"
#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::run_example;
using tests::write_file;

class Imdb : public testing::Test {
 protected:
  void SetUp() override {
    SEQTRAIN_NEEDS_CHECKPOINT();
    for (const char* split : {"train", "test"}) {
      for (int i = 0; i < 20; ++i) {
        const bool good = i % 4 == 0;
        const auto folder = directory_.path() / split / (good ? "pos" : "neg");
        std::filesystem::create_directories(folder);
        write_file(folder / (std::to_string(i) + (good ? "_9.txt" : "_2.txt")),
                   i == 3 ? ""
                   : good ? "A wonderful film.<br /><br />Great!"
                          : "Dull and bad.");
      }
    }
    std::filesystem::create_directories(directory_ / "train/unsup");
    write_file(directory_ / "train/unsup/0_0.txt", "Who knows?");
  }

  [[nodiscard]] tests::Ended run(const std::string& more) const {
    return run_example("imdb", "--model " + tests::small_checkpoint().string() + " --dev-file " +
                                   (directory_ / "test").string() + " --output-dir " +
                                   (directory_ / "run").string() +
                                   " --batch-size 8 --threads 1 --log-every 1 " + more);
  }

  [[nodiscard]] std::string reviews() const {
    return "--train-file " + (directory_ / "train").string() + " ";
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(Imdb, TrainsTheHeadOnReviews) {
  const auto ended = run(reviews() +
                         "--freeze-encoder --epochs 3 --learning-rate 1e-3 --class-weights auto "
                         "--label-smoothing-factor 0.1");
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("Training with 20/20 examples."), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("matthews_correlation: "), std::string::npos) << ended.output;
  const auto document = json::Document::load(directory_ / "run/metrics.json");
  const auto metrics = document.root();
  EXPECT_EQ(metrics.at("flags").at("max-length").string(), "512");
  EXPECT_EQ(metrics.at("dev").at("labels").at("pos").at("support").integer(), 5);
  EXPECT_TRUE(metrics.at("dev").at("metrics").find("matthews_correlation"));
  const weights::WeightsFolder before{tests::small_checkpoint()};
  const weights::WeightsFolder after{directory_ / "run/model"};
  const auto bytes = [](const auto& tensor) {
    return std::vector<std::byte>{tensor->bytes.begin(), tensor->bytes.end()};
  };
  const std::string frozen = "encoder.layer.1.output.dense.weight";
  EXPECT_EQ(bytes(before.find(frozen)), bytes(after.find("bert." + frozen)));
  EXPECT_NE(bytes(before.find("pooler.dense.weight")),
            bytes(after.find("bert.pooler.dense.weight")));
}

TEST_F(Imdb, TellsWhatIsWrong) {
  const struct {
    std::string flags;
    std::string says;
  } cases[] = {
      {"", "aclImdb/train"},
      {"--train-file " + directory_.path().string(), "texts lie in it as <label>/<name>.txt"},
      {reviews() + "--class-weights 1,2,3", "needs one weight for each of: neg, pos"},
      {reviews() + "--class-weights 1,-2", "--class-weights"},
      {reviews() + "--class-weights balanced", "must be auto, or numbers"},
      {reviews() + "--label-smoothing-factor 1.5", "--label-smoothing-factor"},
      {reviews() + "--labels bad,good", "unknown label 'neg'"},
  };
  for (const auto& [flags, says] : cases) {
    const auto ended = run(flags);
    EXPECT_EQ(ended.code, 2) << flags << "\n" << ended.output;
    EXPECT_NE(ended.output.find(says), std::string::npos) << flags << "\n" << ended.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run")) << flags;
  }
}

}  // namespace
}  // namespace seqtrain
