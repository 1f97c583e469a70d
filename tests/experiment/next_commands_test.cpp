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
  EXPECT_EQ(other_program(mnli, "predict").command, predict);
  EXPECT_NE(other_program(mnli, "predict").build, "");
  tests::write_file(predict, "");
  EXPECT_EQ(other_program(mnli, "predict").build, "");
  EXPECT_EQ(other_program("mnli", "predict").command, "predict");
  EXPECT_EQ(other_program("mnli", "predict").build, "");
}

TEST(OtherProgram, IsBuiltFirstIfItIsMissing) {
  const auto build = [](const char* started_as) {
    return other_program(started_as, "predict").build;
  };
  EXPECT_EQ(build("no/such/examples/mnli"), "cmake --build no/such/ --target predict && ");
  EXPECT_EQ(build("no-such/mnli"), "cmake --build . --target predict && ");
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
  EXPECT_EQ(next_commands("mnli", run, examples),
            "Its page:    " + path + "/report.html\nLabel texts: predict --model " + path + " '" +
                examples + "'\nServe it:    serve --model " + path + " --port 8080\n");
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
