#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/run/results.hpp>

#include "support/run_events.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::run {
namespace {

Results some_results() {
  Results results{.labels = {"no", "yes"}, .dev = tests::some_report()};
  results.dev->loss = 0.5625;
  results.train = {
      .examples_per_second = 99.5, .tokens_per_second = 3000, .seconds = 12, .steps = 7};
  results.peak_memory_mib = 512.5;
  results.flags = {{"batch-size", "16"}, {"labels", "no,\"yes\""}};
  results.versions = {{"seqtrain", "0.1.0"}};
  return results;
}

TEST(Results, AsJson) {
  EXPECT_EQ(to_json(some_results()), R"({
  "dev": {
    "problem_type": "single_label_classification",
    "accuracy": 0.75,
    "loss": 0.5625,
    "examples": 8,
    "labels": {
      "no": {
        "precision": 0.75,
        "recall": 0.75,
        "f1": 0.75,
        "support": 4
      },
      "yes": {
        "precision": 0.75,
        "recall": 0.75,
        "f1": 0.75,
        "support": 4
      }
    },
    "macro_average": {
      "precision": 0.75,
      "recall": 0.75,
      "f1": 0.75,
      "support": 8
    },
    "confusion": [
      [3,1],
      [1,3]
    ]
  },
  "train": {
    "examples_per_second": 99.5,
    "tokens_per_second": 3000,
    "seconds": 12,
    "steps": 7
  },
  "peak_memory_mib": 512.5,
  "flags": {
    "batch-size": "16",
    "labels": "no,\"yes\""
  },
  "versions": {
    "seqtrain": "0.1.0"
  }
}
)");
}

TEST(Results, TellWhatTheExamplesAre) {
  Results results{.data =
                      data::DataSummary{.labels = {"no", "yes"},
                                        .train = {.examples = 3, .labels = {1, 2}, .median = 9},
                                        .dev = {.examples = 2, .labels = {1, 1}, .in_train = 1}}};
  const auto text = to_json(results);
  EXPECT_NE(text.find(R"("data": {
    "train": {
      "examples": 3,
      "labels": {
        "no": 1,
        "yes": 2
      },
      "tokens": {
        "median": 9,
        "percentile_95": 0,
        "longest": 0
      },
      "at_max_length": 0,
      "repeated": 0,
      "empty_texts": 0,
      "left_out": 0
    },)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\"in_train\": 1"), std::string::npos) << text;
}

TEST(Results, TellTheAdvice) {
  auto results = some_results();
  EXPECT_EQ(to_json(results).find("advice"), std::string::npos);
  results.advice = {{"overfits", "the model overfits"}, {"most_are_cut", "62 %"}};
  EXPECT_NE(to_json(results).find(R"("advice": {
    "overfits": "the model overfits",
    "most_are_cut": "62 %"
  })"),
            std::string::npos);
}

TEST(Results, TellOfHowManyTrialsTheyAreTheBest) {
  Results results;
  EXPECT_EQ(to_json(results).find("tune"), std::string::npos);
  results.tuned_trials = 8;
  const auto document = json::Document::parse(to_json(results), "metrics.json");
  EXPECT_EQ(document.root().at("tune").at("trials").integer(), 8);
}

TEST(Results, WhatIsNotANumberIsNull) {
  Results results{.test = metrics::Classification{2}.report()};
  const auto text = to_json(results);
  const auto document = json::Document::parse(text, "metrics.json");
  EXPECT_FALSE(document.root().find("dev"));
  EXPECT_FALSE(document.root().at("test").find("accuracy"));
  EXPECT_FALSE(document.root().at("train").find("tokens_per_second"));
  EXPECT_NE(text.find("\"accuracy\": null"), std::string::npos);
  EXPECT_TRUE(document.root().at("test").at("labels").find("LABEL_1"));
}

TEST(Results, TellWhatAUsersMetricsCameTo) {
  Results results{.dev = tests::some_report()};
  results.dev->figures = {{"matthews", 0.5}};
  const auto text = to_json(results);
  const auto document = json::Document::parse(text, "metrics.json");
  EXPECT_EQ(document.root().at("dev").at("metrics").at("matthews").number(), 0.5);
}

TEST(Results, TellTheUseOfTheMachine) {
  Results results;
  EXPECT_EQ(to_json(results).find("machine"), std::string::npos);
  results.machine = {{.name = "gpu0_percent", .mean = 87.5, .max = 100}};
  const auto text = to_json(results);
  const auto document = json::Document::parse(text, "metrics.json");
  const auto figure = document.root().at("machine").at("gpu0_percent");
  EXPECT_EQ(figure.at("mean").number(), 87.5);
  EXPECT_EQ(figure.at("max").number(), 100);
}

TEST(Results, TellTheFiguresOfSimpleModels) {
  Results results;
  results.baseline = {.majority = tests::some_report(),
                      .linear = tests::some_report(),
                      .examples = 5,
                      .terms = 70,
                      .seconds = 0.5};
  EXPECT_NE(to_json(results).find(R"("baseline": {
    "majority": {
      "accuracy": 0.75,
      "macro_f1": 0.75
    },
    "linear": {
      "accuracy": 0.75,
      "macro_f1": 0.75
    },
    "examples": 5,
    "terms": 70,
    "seconds": 0.5
  })"),
            std::string::npos);
  results.baseline->majority = results.baseline->linear = tests::some_report_of_regression();
  EXPECT_NE(to_json(results).find(R"("mean": {
      "mean_squared_error": 0.5,)"),
            std::string::npos);
  EXPECT_EQ(to_json({}).find("baseline"), std::string::npos);
}

TEST(Results, ReplaceAFile) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "metrics.json", "earlier");
  save(some_results(), file);
  EXPECT_EQ(tests::read_file(file), to_json(some_results()));
  EXPECT_THROW(save(some_results(), directory / "absent/metrics.json"), Error);
}

TEST(Results, OfRegressionHaveNoLabels) {
  const Results results{.labels = {"LABEL_0"}, .dev = tests::some_report_of_regression()};
  const auto text = to_json(results);
  const auto dev = text.substr(0, text.find("  \"train\""));
  EXPECT_EQ(dev, R"({
  "dev": {
    "problem_type": "regression",
    "loss": 0.5,
    "examples": 4,
    "metrics": {
      "mean_squared_error": 0.5,
      "pearson": 1,
      "spearman": 1
    }
  },
)");
}

TEST(Results, OfSeveralLabelsHaveBothAverages) {
  const Results results{.labels = {"no", "yes"}, .dev = tests::some_report_of_several_labels()};
  const auto document = json::Document::parse(to_json(results), "metrics.json");
  const auto dev = document.root().at("dev");
  EXPECT_EQ(dev.at("problem_type").string(), "multi_label_classification");
  EXPECT_EQ(dev.at("accuracy").number(), 0.5);
  EXPECT_EQ(dev.at("labels").at("no").at("precision").number(), 0.5);
  EXPECT_EQ(dev.at("micro_average").at("f1").number(), 0.8);
  EXPECT_EQ(dev.at("macro_average").at("recall").number(), 1);
  EXPECT_EQ(dev.at("metrics").at("micro_f1").number(), 0.8);
  EXPECT_EQ(dev.at("confusion").items().at(0).items().at(1).integer(), 1);  // false positives
}

}  // namespace
}  // namespace seqtrain::run
