#include <cmath>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/run/tuning.hpp>

namespace seqtrain::run {
namespace {

TEST(DevFigure, IsReadFromMetricsByItsName) {
  const auto metrics = json::Document::parse(
      R"({"dev": {"accuracy": 0.5, "loss": 1.5, "examples": 4,
          "metrics": {"matthews": 0.25, "rare_f1": 0.125, "odd_f1": null},
          "macro_average": {"f1": 0.75}}})",
      "metrics.json");
  EXPECT_EQ(dev_figure(metrics.root(), "accuracy"), 0.5);
  EXPECT_EQ(dev_figure(metrics.root(), "loss"), 1.5);
  EXPECT_EQ(dev_figure(metrics.root(), "matthews"), 0.25);
  EXPECT_EQ(dev_figure(metrics.root(), "macro_f1"), 0.75);
  EXPECT_EQ(dev_figure(metrics.root(), "rare_f1"), 0.125);
  EXPECT_TRUE(std::isnan(dev_figure(metrics.root(), "odd_f1").value()));
  EXPECT_FALSE(dev_figure(metrics.root(), "pearson"));
}

TEST(Tuning, IsWrittenAsJson) {
  Tuning tuning{.metric = "accuracy",
                .trials = {{.values = {{"epochs", "3"}},
                            .runs = {{.folder = "tune/trial-1-rung-1", .figure = 0.5, .loss = 2}}},
                           {.runs = {{.share = 0.5, .problem = "diverged"}}}},
                .settings = {{"seed", "1"}}};
  const auto begun = json::Document::parse(tuning_json(tuning), "tune.json");
  EXPECT_FALSE(begun.root().find("winner"));
  tuning.winner = 1;
  const auto document = json::Document::parse(tuning_json(tuning), "tune.json");
  const auto root = document.root();
  EXPECT_EQ(root.at("winner").at("trial").integer(), 1);
  EXPECT_EQ(root.at("winner").at("flags").at("epochs").string(), "3");
  const auto trials = root.at("trials").items();
  EXPECT_EQ(trials[0].at("runs").items()[0].at("accuracy").number(), 0.5);
  EXPECT_EQ(trials[0].at("runs").items()[0].at("folder").string(), "tune/trial-1-rung-1");
  EXPECT_TRUE(trials[1].at("runs").items()[0].has_null("accuracy"));
  EXPECT_EQ(trials[1].at("runs").items()[0].at("problem").string(), "diverged");
  EXPECT_EQ(root.at("settings").at("seed").string(), "1");
}

}  // namespace
}  // namespace seqtrain::run
