#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/json.hpp>

#include "support/environment.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::cli {
namespace {

struct Ended {
  int code = -1;
  std::string out;
  std::string errors;
};

template <class Body>
Ended end_of(const Body& body) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run(body);
  std::string out = testing::internal::GetCapturedStdout();
  return {code, std::move(out), testing::internal::GetCapturedStderr()};
}

template <class Thrown>
Ended ended_by(const Thrown& thrown) {
  return end_of([&](log::Log&) { throw thrown; });
}

/// Runs outside a cloud job, whatever the environment of the machine.
class Run : public testing::Test {
  const tests::Environment id_{"CLOUD_ML_JOB_ID", {}};
  const tests::Environment model_{"AIP_MODEL_DIR", {}};
  const tests::Environment checkpoints_{"AIP_CHECKPOINT_DIR", {}};
  const tests::Environment tensorboard_{"AIP_TENSORBOARD_LOG_DIR", {}};
};

TEST_F(Run, IsZeroWhereNothingIsThrown) {
  EXPECT_EQ(run([] {}), 0);
  EXPECT_EQ(run([](log::Log&) {}), 0);
}

TEST_F(Run, TellsWrongInputFromFailure) {
  const auto ended = ended_by(InputError{"is empty", {.object = "a.jsonl"}, "fill it"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.errors, "error: a.jsonl: is empty; fill it\n");
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended_by(Error{"disk full"}).code, 1);
  EXPECT_EQ(ended_by(std::runtime_error{"anything"}).code, 1);
}

TEST_F(Run, SaysWhatAnotherLibrarysExceptionMeans) {
  const tests::TemporaryDirectory directory;
  std::filesystem::create_symlink("loop", directory / "loop");
  const auto ended = end_of([&](log::Log&) { (void)std::filesystem::exists(directory / "loop"); });
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.errors, "error: " + (directory / "loop").string() +
                              ": cannot be used: Too many levels of symbolic links; its symbolic "
                              "links lead in a circle\n");
  const std::filesystem::filesystem_error full{"rename", "a",
                                               std::make_error_code(std::errc::no_space_on_device)};
  EXPECT_EQ(ended_by(full).code, 1);
}

TEST_F(Run, LetsAWriteBeyondTheLimitOfAFilesSizeFail) {
  EXPECT_EQ(run([] { EXPECT_EQ(std::raise(SIGXFSZ), 0); }), 0);
}

TEST_F(Run, EndsStoppedWith3ButUnderTorchrunWith0) {
  const tests::Environment alone{"TORCHELASTIC_RUN_ID", {}};
  const train::Stopped stopped{"stopped after step 3 of 9"};
  EXPECT_EQ(ended_by(stopped).code, 3);
  const tests::Environment torchrun{"TORCHELASTIC_RUN_ID", "abc"};
  const auto ended = ended_by(stopped);
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, "stopped after step 3 of 9\n");
}

TEST_F(Run, SaysWhichFlagLowersMemory) {
  const auto ended = ended_by(std::bad_alloc{});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.errors.find("--batch-size"), std::string::npos);
}

TEST_F(Run, EndsWithThreeAfterASignal) {
  const auto ended = ended_by(train::Stopped{"stopped after step 2 of 4"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.out, "stopped after step 2 of 4\n");
}

TEST_F(Run, WritesErrorsToStdoutInJson) {
  const tests::Environment job{"CLOUD_ML_JOB_ID", "123"};
  const auto ended = end_of([](log::Log& log) {
    log.info("begins");
    try {
      try {
        throw std::runtime_error{"no route"};
      } catch (...) {
        std::throw_with_nested(Error{"no answer"});
      }
    } catch (...) {
      std::throw_with_nested(
          InputError{"cannot be read", {.object = "a.jsonl", .line = 3, .field = "label"}});
    }
  });
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.errors, "");
  const auto end = ended.out.find('\n') + 1;
  EXPECT_NE(ended.out.substr(0, end).find(R"("severity":"INFO","message":"begins")"),
            std::string::npos);
  const auto document = json::Document::parse(ended.out.substr(end), "log");
  const auto error = document.root();
  EXPECT_EQ(error.at("severity").string(), "ERROR");
  EXPECT_EQ(error.at("message").string(), "a.jsonl:3: label: cannot be read");
  EXPECT_EQ(error.at("object").string(), "a.jsonl");
  EXPECT_EQ(error.at("line").integer(), 3);
  EXPECT_EQ(error.at("field").string(), "label");
  ASSERT_EQ(error.at("causes").items().size(), 2U);
  EXPECT_EQ(error.at("causes").items()[0].string(), "no answer");
  EXPECT_EQ(error.at("causes").items()[1].string(), "no route");
}

TEST_F(Run, LeavesStdoutToAProgramThatTakesNoLog) {
  const tests::Environment job{"CLOUD_ML_JOB_ID", "123"};
  const auto ended = end_of([] { throw Error{"disk full"}; });
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.errors, "error: disk full\n");
}

/// Makes a pipe whose reader has closed its end take the place of stdout.
void close_reader_of_stdout() {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[0]);
  ::close(ends[1]);
}

class RunDeathTest : public Run {
 protected:
  RunDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(RunDeathTest, FinishesThoughNobodyReadsTheLog) {
  EXPECT_EXIT(
      {
        close_reader_of_stdout();
        std::exit(run([](log::Log& log) {
          for (int i = 0; i < 100; ++i) log.info("a line");
          log.error("the end");
        }));
      },
      testing::ExitedWithCode(0), "^error: the end\n$");
}

TEST_F(RunDeathTest, EndsQuietlyWhenNobodyReadsTheData) {
  EXPECT_EXIT(
      {
        close_reader_of_stdout();
        std::exit(run([] {
          while (true) std::cout << "a line\n";
        }));
      },
      testing::ExitedWithCode(0), "^$");
}

TEST_F(RunDeathTest, FailsWhenTheDataCannotBeWritten) {
  EXPECT_EXIT(
      {
        ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
        std::exit(run([] { std::cout << "a line\n"; }));
      },
      testing::ExitedWithCode(1), "^error: stdout: cannot be written\n$");
}

TEST_F(RunDeathTest, OpensNothingInThePlaceOfAClosedStdout) {
  EXPECT_EXIT(
      {
        for (const int number : {STDIN_FILENO, STDOUT_FILENO}) ::close(number);
        std::exit(run([](log::Log& log) {
          const int file = ::open("/dev/null", O_RDWR);
          log.info("a line");
          if (file > STDERR_FILENO) throw InputError{"as it should be"};
        }));
      },
      testing::ExitedWithCode(2), "as it should be");
}

TEST_F(RunDeathTest, WritesTheLogBeforeItEndsAtOnce) {
  EXPECT_EXIT(run([](log::Log& log) {
                for (int i = 0; i < 1000; ++i) log.error("a line");
                log.error("the last");
                end_at_once(stopped_by_signal);
              }),
              testing::ExitedWithCode(3), "error: the last\n$");
}

}  // namespace
}  // namespace seqtrain::cli
