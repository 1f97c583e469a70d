#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/experiment/next_commands.hpp>
#include <seqtrain/run/run_directory.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::experiment {
namespace {

TEST(OtherProgram, IsBesideTheOneThatWasStarted) {
  const tests::TemporaryDirectory directory;
  const auto mnli = (directory / "mnli").string();
  const auto predict = (directory / "predict").string();
  EXPECT_EQ(other_program(mnli, "predict").command, "predict");
  tests::write_file(predict, "");
  EXPECT_EQ(other_program(mnli, "predict").command, predict);
  EXPECT_EQ(other_program(mnli, "predict").build, "");
  EXPECT_EQ(other_program("mnli", "predict").command, "predict");
  EXPECT_EQ(other_program("mnli", "predict").build, "");
}

TEST(OtherProgram, IsBuiltFirstIfItsTreeOfCMakeLacksIt) {
  const tests::TemporaryDirectory directory;
  const auto started = (directory / "examples/mnli").string();
  EXPECT_EQ(other_program(started, "predict").build, "");
  std::filesystem::create_directory(directory / "examples");
  tests::write_file(directory / "CMakeCache.txt", "");
  const auto other = other_program(started, "predict");
  EXPECT_EQ(other.build, "cmake --build " + directory.path().string() + "/ --target predict && ");
  EXPECT_EQ(other.command, (directory / "examples/predict").string());
}

TEST(OtherProgram, IsASubcommandOfSeqtrain) {
  EXPECT_EQ(other_program("seqtrain", "predict").command, "seqtrain predict");
  EXPECT_EQ(other_program("bin/seqtrain train", "serve").command, "bin/seqtrain serve");
  EXPECT_EQ(other_program("bin/seqtrain train", "serve").build, "");
}

TEST(NextCommands, NameThePageAndCommandsToPaste) {
  const tests::TemporaryDirectory directory;
  const auto examples = tests::write_file(directory / "my texts.csv", "text\na\n").string();
  const auto path = (directory / "run").string();
  const run::RunDirectory run{{.path = path + "/"}};
  EXPECT_EQ(page_line(run), "Its page:    " + path + "/report.html\n");
  EXPECT_EQ(next_commands("mnli", run, examples),
            page_line(run) + "Label texts: predict --model " + path + " '" + examples +
                "'\nServe it:    serve --model " + path + " --port 8080\n");
}

TEST(NextCommands, LabelOneTextIfPredictCannotReadTheExamples) {
  const tests::TemporaryDirectory directory;
  const run::RunDirectory run{{.path = directory / "run"}};
  for (const auto& examples : {directory.path().string(), std::string{"a.parquet,b.parquet"}}) {
    EXPECT_NE(next_commands("mnli", run, examples)
                  .find("\nLabel texts: echo '{\"text\": \"A text.\"}' | predict --model "),
              std::string::npos);
  }
}

}  // namespace
}  // namespace seqtrain::experiment
