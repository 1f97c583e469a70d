#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/experiment/stages.hpp>
#include <seqtrain/train/stopped.hpp>
#include <seqtrain/trainer.hpp>

#include "support/fakes.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::experiment {
namespace {

using tests::FakeLoader;
using tests::FakeModel;
using tests::FakeSgd;
using tests::FakeSink;

/// Runs two stages of four steps. `stop_at`, counted over both, ends the job.
double job(const std::filesystem::path& directory, int stop_at, std::vector<std::string>& log) {
  const Stages stages{directory, {{"seed", "1"}}, [&](const train::Notice& notice) {
                        log.emplace_back(notice.text);
                      }};
  FakeModel model;
  int step = 0;
  for (const auto* name : {"one", "two"}) {
    stages.run(name, model,
               [&](FakeModel& trained, sink::Directory place, train::CheckpointOptions options) {
                 options.every = 1;
                 std::stop_source stop;
                 struct Count {
                   int& step;
                   int stop_at;
                   std::stop_source& stop;
                   void on(const train::StepEnd&) {
                     if (++step == stop_at) stop.request_stop();
                   }
                 } count{step, stop_at, stop};
                 Trainer trainer{std::move(trained), FakeSgd{0.05}, FakeLoader{{1, 2, -1, 0.5}, 2},
                                 std::move(place)};
                 trainer.fit({.epochs = 2, .checkpoint = options, .stop = stop.get_token()}, count);
                 trained = std::move(trainer.model());
               });
  }
  return model.weight();
}

TEST(Stages, GoOnWhereTheyWereBitForBit) {
  const tests::TemporaryDirectory directory;
  std::vector<std::string> log;
  const double expected = job(directory / "whole", 0, log);
  for (int stop_at = 1; stop_at < 8; ++stop_at) {
    const auto place = directory / std::to_string(stop_at);
    EXPECT_THROW(job(place, stop_at, log), train::Stopped) << stop_at;
    EXPECT_EQ(job(place, 0, log), expected) << stop_at;
  }
}

TEST(Stages, AreNotDoneTwice) {
  const tests::TemporaryDirectory directory;
  std::vector<std::string> log;
  const double expected = job(directory.path(), 0, log);
  log.clear();
  EXPECT_EQ(job(directory.path(), 1, log), expected);
  ASSERT_EQ(log.size(), 2U);
  EXPECT_NE(log[1].find("Stage two is done already"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory / "two.checkpoints"));
}

TEST(Stages, RefuseTheDirectoryOfAnotherJob) {
  const tests::TemporaryDirectory directory;
  const Stages first{directory.path(), {{"seed", "1"}}};
  EXPECT_NE(tests::problem_of([&] {
              Stages{directory.path(), {{"seed", "2"}}};
            }).find("holds a job with other settings"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::experiment
