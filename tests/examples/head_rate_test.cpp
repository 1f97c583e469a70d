#include <cstddef>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>

#include "support/program.hpp"
#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::write_file;

/// Runs on a file of as many labels as let a new head learn faster than the encoder.
class HeadRate : public testing::Test {
 protected:
  void SetUp() override {
    SEQTRAIN_NEEDS_CHECKPOINT();
    std::string lines = "text,label\n";
    for (std::size_t i = 0; i < 48; ++i) {
      lines += "text " + std::to_string(i) + " of " + std::string(1 + i % 6, 'a') + ",label " +
               std::to_string(i % 6) + "\n";
    }
    file_ = write_file(directory_ / "examples.csv", lines).string();
  }

  /// Trains two epochs and returns the program's output.
  std::string train(const std::string& output, const std::string& flags = "",
                    const std::filesystem::path& model = tests::small_checkpoint(), int code = 0) {
    const auto ended = tests::run_example(
        "mnli", "--model " + model.string() + " --threads 1 --max-length 8 --dev-fraction 0.25 " +
                    "--epochs 2 --no-baseline --precision fp32 --train-file " + file_ +
                    " --output-dir " + folder(output).string() + " " + flags);
    EXPECT_EQ(ended.code, code) << ended.output;
    return ended.output;
  }

  [[nodiscard]] std::filesystem::path folder(const std::string& output) const {
    return directory_ / output;
  }
  [[nodiscard]] std::string weights(const std::string& output) const {
    return tests::read_file(folder(output) / "model/model.safetensors");
  }
  /// Returns a learning rate of the run as metrics.json has it, or "".
  [[nodiscard]] std::string rate(const std::string& output, const std::string& flag) const {
    const auto metrics = json::Document::load(folder(output) / "metrics.json");
    const auto found = metrics.root().at("flags").find(flag);
    return found ? std::string{found->string()} : "";
  }

  tests::TemporaryDirectory directory_;
  std::string file_;
};

TEST_F(HeadRate, IsTenTimesTheEncodersForANewHeadOfSixLabels) {
  EXPECT_NE(train("chosen").find("--learning-rate 0.0001 and --head-learning-rate 0.001\n"),
            std::string::npos);
  EXPECT_EQ(rate("chosen", "head-learning-rate"), "0.001");
  train("given", "--learning-rate 1e-4 --head-learning-rate 1e-3");
  EXPECT_EQ(weights("given"), weights("chosen"));
  train("one-rate", "--learning-rate 1e-4");
  EXPECT_EQ(rate("one-rate", "head-learning-rate"), "");
  EXPECT_NE(weights("one-rate"), weights("chosen"));

  // A rate on the command line is that of all parameters.
  const auto config = "--config " + (folder("chosen") / "metrics.json").string();
  train("again", config);
  EXPECT_EQ(weights("again"), weights("chosen"));
  train("other", config + " --learning-rate 1e-4");
  EXPECT_EQ(weights("other"), weights("one-rate"));
}

TEST_F(HeadRate, IsTheEncodersForATrainedHead) {
  train("first");
  const auto model = folder("first") / "model";
  EXPECT_EQ(train("second", "", model).find("head-learning-rate"), std::string::npos);
  // A part of the encoder is new, and the head is not.
  const auto config = tests::read_file(model / "config.json");
  const std::string positions = "\"max_position_embeddings\": 512";
  const auto place = config.find(positions);
  ASSERT_NE(place, std::string::npos) << config;
  write_file(model / "config.json", std::string{config}.replace(place, positions.size(),
                                                                "\"max_position_embeddings\": 64"));
  const auto output = train("third", "--ignore-mismatched-sizes", model);
  EXPECT_NE(output.find("position_embeddings.weight"), std::string::npos) << output;
  EXPECT_EQ(output.find("head-learning-rate"), std::string::npos) << output;
}

TEST_F(HeadRate, IsThatOfTheRunThatIsContinued) {
  // A run before there were rates of heads.
  const std::string steps = " --max-steps 4 --checkpoint-every 2 --keep-last-checkpoint";
  train("old", "--learning-rate 1e-4" + steps);
  const auto longer = " --max-steps 6 --checkpoint-every 2 --keep-last-checkpoint --resume auto";
  const auto output = train("old", longer);
  EXPECT_NE(output.find("Resumed from"), std::string::npos) << output;
  EXPECT_EQ(output.find("head-learning-rate"), std::string::npos) << output;
  EXPECT_EQ(rate("old", "learning-rate"), "0.0001");
  EXPECT_EQ(rate("old", "head-learning-rate"), "");
  train("new", steps);
  EXPECT_NE(train("new", longer).find("Resumed from"), std::string::npos);
  EXPECT_EQ(rate("new", "head-learning-rate"), "0.001");
}

}  // namespace
}  // namespace seqtrain
