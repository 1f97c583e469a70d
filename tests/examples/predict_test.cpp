#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>

#include "support/program.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::run_example;
using tests::write_file;

/// A model that was fine-tuned for one step, made once.
class Predict : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!std::filesystem::exists(tests::default_checkpoint())) return;
    directory_ = new tests::TemporaryDirectory;
    const auto file = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../examples/data/nli/dev.jsonl";
    const auto run = run_example("mnli", "--model " + tests::default_checkpoint().string() +
                                             " --train-file " + file.string() + " --dev-file " +
                                             file.string() + " --fraction-of-train-data 0.05" +
                                             " --max-steps 1 --max-length 24 --threads 1" +
                                             " --output-dir " + (*directory_ / "run").string());
    ASSERT_EQ(run.code, 0) << run.output;
  }
  static void TearDownTestSuite() {
    delete directory_;
    directory_ = nullptr;
  }

  void SetUp() override { SEQTRAIN_NEEDS_CHECKPOINT(); }

  static tests::Ended predict(const std::string& lines, const std::string& flags = "") {
    const auto input = write_file(*directory_ / "input.jsonl", lines);
    return run_example("predict", "--threads 1 --model " + (*directory_ / "run/model").string() +
                                      " " + flags + " < " + input.string());
  }

  static inline tests::TemporaryDirectory* directory_ = nullptr;
};

constexpr const char* three_lines =
    R"({"text": "A man sleeps on a very long train to the north of the country.", "text_pair": "A man is awake."}
{"text": "Two dogs run.", "text_pair": "Dogs move."}
{"text": "No pair here"}
)";

TEST_F(Predict, KeepsTheOrderAtAnyBatchSize) {
  const auto one = predict(three_lines, "--batch-size 1 --device cpu");
  const auto all = predict(three_lines, "--batch-size 32");
  ASSERT_EQ(one.code, 0) << one.output;
  std::istringstream first{one.output};
  std::istringstream second{all.output};
  int lines = 0;
  for (std::string a, b; std::getline(first, a) && std::getline(second, b); ++lines) {
    const auto x = json::Document::parse(a, "a");
    const auto y = json::Document::parse(b, "b");
    const auto left = x.root().at("logits").items();
    const auto right = y.root().at("logits").items();
    ASSERT_EQ(left.size(), 3U);
    double sum = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      EXPECT_NEAR(left[i].number(), right[i].number(), 1e-4);
      sum += x.root().at("scores").members()[i].second.number();
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_TRUE(x.root().at("scores").find(x.root().at("label").string()).has_value());
  }
  EXPECT_EQ(lines, 3);
}

TEST_F(Predict, TellsTheLineOfWrongInput) {
  const auto broken = predict(std::string{three_lines} + "not JSON\n");
  EXPECT_EQ(broken.code, 2);
  EXPECT_NE(broken.output.find("stdin:4"), std::string::npos) << broken.output;
  EXPECT_EQ(predict(three_lines, "--batch-size 0").code, 2);
}

TEST_F(Predict, RefusesAModelThatIsNotTrained) {
  const auto run =
      run_example("predict", "--model " + tests::default_checkpoint().string() + " < /dev/null");
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.output.find("classifier"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace seqtrain
