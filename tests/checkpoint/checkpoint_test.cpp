#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/checkpoint.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/selection.hpp>

#include "support/problem_of.hpp"
#include "support/snapshots.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::checkpoint {
namespace {

using tests::read_file;
using tests::some_snapshot;
using tests::write_file;

const RunDescription described_run{.id = "run_1",
                                   .lineage = {{.run = "run_0", .step = 3, .steps = 8}},
                                   .steps = 12,
                                   .settings = {{"seed", "1234"}, {"batch-size", "16"}},
                                   .fit = {{"on_nonfinite", "stop"}},
                                   .versions = {{"seqtrain", "0.2.0"}}};

/// Writes a checkpoint as the whole content of a directory and reads it.
void write(const tests::TemporaryDirectory& directory, const Snapshot& snapshot) {
  sink::Directory store{directory.path().parent_path()};
  tests::write_snapshot(store, directory.path().filename().string(), snapshot, described_run);
}

TEST(Checkpoint, ComesBackAsItWas) {
  const tests::TemporaryDirectory directory;
  const auto snapshot = some_snapshot(7);
  write(directory, snapshot);
  const Checkpoint read{directory.path()};
  EXPECT_EQ(read.state().position, snapshot.state.position);
  EXPECT_EQ(read.state().skipped_steps, 1);
  ASSERT_EQ(read.state().dev.size(), 1U);
  EXPECT_EQ(read.state().dev[0].confusion, snapshot.state.dev[0].confusion);
  EXPECT_EQ(read.state().dev[0].accuracy, snapshot.state.dev[0].accuracy);
  EXPECT_EQ(read.state().dev[0].loss, snapshot.state.dev[0].loss);
  EXPECT_EQ(read.state().dev[0].labels[1].f1, snapshot.state.dev[0].labels[1].f1);
  EXPECT_EQ(read.run().id, described_run.id);
  EXPECT_EQ(read.run().lineage, described_run.lineage);
  EXPECT_EQ(read.run().steps, 12);
  EXPECT_EQ(read.run().settings, described_run.settings);
  EXPECT_EQ(read.run().fit, described_run.fit);
  EXPECT_EQ(read.run().versions, described_run.versions);
  ASSERT_EQ(read.tensors("model").size(), 1U);
  EXPECT_EQ(weights::to_floats(read.tensors("model")[0]), (std::vector{0.5F, -1.0F, 7.0F}));
  EXPECT_TRUE(read.has("optimizer"));
  EXPECT_FALSE(read.has("best_model"));
  EXPECT_THROW((void)read.tensors("best_model"), InputError);
}

TEST(Checkpoint, KeepsWhatAUsersMetricsCameTo) {
  const tests::TemporaryDirectory directory;
  auto snapshot = some_snapshot(7);
  snapshot.state.dev.push_back(tests::some_report());
  snapshot.state.dev[1].figures = {{"matthews", 0.1}, {"spearman", std::nan("")}};
  write(directory, snapshot);
  const auto dev = Checkpoint{directory.path()}.state().dev;
  EXPECT_TRUE(dev.at(0).figures.empty());
  ASSERT_EQ(dev.at(1).figures.size(), 2U);
  EXPECT_EQ(dev[1].figures[0].name, "matthews");
  EXPECT_EQ(dev[1].figures[0].value, 0.1);
  EXPECT_EQ(dev[1].figures[1].name, "spearman");
  EXPECT_TRUE(std::isnan(dev[1].figures[1].value));
}

TEST(Checkpoint, KeepsTheFiguresOfOtherProblems) {
  const tests::TemporaryDirectory directory;
  auto snapshot = some_snapshot(7);
  snapshot.state.dev = {tests::some_report_of_regression(), tests::some_report_of_several_labels()};
  write(directory, snapshot);
  const auto dev = Checkpoint{directory.path()}.state().dev;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& written = snapshot.state.dev[i];
    EXPECT_EQ(dev.at(i).problem_type, written.problem_type);
    EXPECT_EQ(dev[i].examples, written.examples);
    EXPECT_EQ(dev[i].loss, written.loss);
    EXPECT_EQ(train::Selection{}.score(dev[i]), train::Selection{}.score(written));
    ASSERT_EQ(dev[i].figures.size(), written.figures.size());
    for (std::size_t j = 0; j < written.figures.size(); ++j) {
      EXPECT_EQ(dev[i].figures[j].name, written.figures[j].name);
      EXPECT_EQ(dev[i].figures[j].value, written.figures[j].value);
    }
  }
  EXPECT_TRUE(std::isnan(dev[0].accuracy));
  EXPECT_EQ(dev[1].accuracy, 0.5);
  EXPECT_EQ(dev[1].confusion, snapshot.state.dev[1].confusion);
  EXPECT_EQ(dev[1].labels[0].precision, 0.5);
}

TEST(Checkpoint, KeepsTheFiguresOfALanguageModel) {
  const tests::TemporaryDirectory directory;
  auto snapshot = some_snapshot(7);
  snapshot.state.dev = {{.problem_type = ProblemType::language_modeling,
                         .examples = 40,
                         .loss = 1.5,
                         .figures = {{"perplexity", 4.4816890703380645}}}};
  write(directory, snapshot);
  const auto dev = Checkpoint{directory.path()}.state().dev;
  EXPECT_EQ(dev.at(0).problem_type, ProblemType::language_modeling);
  EXPECT_EQ(dev[0].examples, 40);
  EXPECT_EQ(dev[0].loss, 1.5);
  EXPECT_EQ(dev[0].figures.at(0).value, 4.4816890703380645);
}

TEST(Checkpoint, KeepsTheFiguresOfAModelScoredByItsLoss) {
  const tests::TemporaryDirectory directory;
  auto snapshot = some_snapshot(7);
  snapshot.state.dev = {{.problem_type = ProblemType::loss_alone, .examples = 40, .loss = 1.5}};
  write(directory, snapshot);
  const auto dev = Checkpoint{directory.path()}.state().dev;
  EXPECT_EQ(dev.at(0).problem_type, ProblemType::loss_alone);
  EXPECT_EQ(dev[0].examples, 40);
  EXPECT_EQ(dev[0].loss, 1.5);
}

TEST(Checkpoint, HasAnOwnerWithoutTensors) {
  const tests::TemporaryDirectory directory;
  auto snapshot = some_snapshot(0);
  snapshot.tensors["optimizer"].assign({});
  write(directory, snapshot);
  const Checkpoint read{directory.path()};
  EXPECT_TRUE(read.has("optimizer"));
  EXPECT_TRUE(read.tensors("optimizer").empty());
}

TEST(Checkpoint, RefusesWhatIsNotAsItWasWritten) {
  for (const char* name :
       {"model.safetensors", "optimizer.safetensors", "trainer_state.json", "manifest.json"}) {
    const auto refused = [&](const auto& change) {
      const tests::TemporaryDirectory directory;
      write(directory, some_snapshot(7));
      const auto file = directory / name;
      const std::string bytes = read_file(file);
      change(file, bytes);
      EXPECT_THROW(Checkpoint{directory.path()}, Error) << name;
    };
    refused([](const auto& file, const std::string&) { std::filesystem::remove(file); });
    refused([](const auto& file, const std::string& bytes) {
      write_file(file, bytes.substr(0, bytes.size() / 2));
    });
    refused([](const auto& file, std::string bytes) {
      bytes[bytes.size() / 2] ^= 1;
      write_file(file, bytes);
    });
    refused([](const auto& file, const std::string&) { write_file(file, ""); });
  }
}

/// Writes a checkpoint with this state and a matching manifest.
void make_checkpoint(const std::filesystem::path& directory, const std::string& state) {
  write_file(directory / "trainer_state.json", state);
  sink::Manifest manifest;
  manifest.add(directory, "trainer_state.json");
  write_file(directory / "manifest.json", manifest.to_json());
}

TEST(Checkpoint, RefusesAnotherFormatInAPlainSentence) {
  const tests::TemporaryDirectory directory;
  for (const char* other : {"1", "3"}) {
    make_checkpoint(directory.path(), std::string{R"({"format": )"} + other + "}");
    EXPECT_EQ(tests::problem_of([&] { Checkpoint{directory.path()}; }),
              (directory / "trainer_state.json").string() + ": format: is " + other +
                  ", but this program reads format 2; resume with the version of the program that "
                  "wrote the checkpoint");
  }
}

TEST(Checkpoint, RefusesStatesThatMakeNoSense) {
  const std::string good = R"({"format": 2, "run": "run_1", "lineage": [], "epoch": 0, "batch": 1,
    "step": 2, "steps": 9, "skipped_steps": 0, "dev": [], "settings": {}})";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const tests::TemporaryDirectory directory;
  make_checkpoint(directory.path(), good);
  EXPECT_EQ(Checkpoint{directory.path()}.state().position.step, 2);
  for (const auto& bad :
       {with("\"format\": 2,", ""), with("\"run\": \"run_1\",", ""), with("\"lineage\": [],", ""),
        with("\"batch\": 1", "\"batch\": -1"), with("\"step\": 2,", ""), with("\"steps\": 9,", ""),
        with("\"epoch\": 0", "\"epoch\": \"0\""),
        with("\"dev\": []", R"("dev": [{"loss": 1, "labels": 2, "confusion": [1, 2, 3]}])"),
        with("\"dev\": []", R"("dev": [{"loss": 1, "labels": 4294967296, "confusion": []}])"),
        with("\"dev\": []",
             R"("dev": [{"problem_type": "none", "loss": 1, "labels": 0, "confusion": []}])"),
        with("\"dev\": []",
             R"("dev": [{"problem_type": "regression", "loss": 1, "labels": 0, "confusion": []}])"),
        with("\"dev\": []",
             R"("dev": [{"problem_type": "multi_label_classification", "loss": 1, "labels": 2,
          "confusion": [1, 2, 3, 4]}])"),
        with("\"dev\": []", R"("dev": [{"problem_type": "multi_label_classification", "loss": 1,
          "labels": 4611686018427387904, "confusion": []}])"),
        with("{}", R"({"seed": 1})")}) {
    make_checkpoint(directory.path(), bad);
    EXPECT_THROW(Checkpoint{directory.path()}, InputError) << bad;
  }
}

}  // namespace
}  // namespace seqtrain::checkpoint
