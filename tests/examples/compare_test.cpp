#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/program.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::read_file;
using tests::run_example;
using tests::write_file;

/// The places of two finished runs that agree on one of three dev examples.
class CompareExample : public testing::Test {
 protected:
  void SetUp() override {
    write_run("one", "1", {"a", "b", "a"});
    write_run("two", "7", {"a", "a", "b"});
  }

  void write_run(const std::string& name, const std::string& seed,
                 const std::vector<std::string>& predicted) {
    const auto run = directory_ / name;
    std::filesystem::create_directory(run);
    write_file(run / "metrics.json",
               R"({"dev":{"problem_type":"single_label_classification","accuracy":0.5,"loss":1,)"
               R"("examples":3,"macro_average":{"f1":0.25},"metrics":{}},"flags":{"seed":")" +
                   seed + R"("}})");
    std::string lines;
    for (std::size_t row = 0; row < predicted.size(); ++row) {
      lines += R"({"split":"dev","row":)" + std::to_string(row + 1) +
               R"(,"gold":"a","predicted":")" + predicted[row] + R"(","scores":[1,0],"loss":1})" +
               "\n";
    }
    write_file(run / "predictions.jsonl", lines);
    write_file(run / "train_log.jsonl", R"({"event":"step","step":1,"loss":0.5})"
                                        "\n");
  }

  [[nodiscard]] std::string place(const std::string& name) const {
    return (directory_ / name).string();
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(CompareExample, PrintsATableAndWritesAPage) {
  const auto ended =
      run_example("compare", place("one") + " --html " + place("page.html") + " " + place("two"));
  ASSERT_EQ(ended.code, 0) << ended.output;
  for (const char* expected : {"seed", "accuracy", "McNemar"}) {
    EXPECT_NE(ended.output.find(expected), std::string::npos) << expected << "\n" << ended.output;
  }
  EXPECT_NE(read_file(directory_ / "page.html").find("McNemar"), std::string::npos);
}

TEST_F(CompareExample, RefusesWhatIsNoFinishedRun) {
  for (const std::string& arguments : {place("one"), std::string{}}) {
    const auto ended = run_example("compare", arguments);
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.output.find("needs two runs"), std::string::npos) << ended.output;
  }
  const auto ended = run_example("compare", place("one") + " " + place("three"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.output.find("three: holds no metrics.json"), std::string::npos) << ended.output;
  write_file(directory_ / "one" / "predictions.jsonl", "{");
  const auto broken = run_example("compare", place("one") + " " + place("two"));
  EXPECT_EQ(broken.code, 2);
  EXPECT_NE(broken.output.find("predictions.jsonl"), std::string::npos) << broken.output;
}

}  // namespace
}  // namespace seqtrain
