#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/run/model_card.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::run {
namespace {

Results made_results() {
  metrics::Confusion confusion(2, 2);
  confusion << 3, 1, 0, 4;
  return {.labels = {"no", "yes"},
          .dev = metrics::make_report(confusion, 0.25),
          .flags = {{"model", "org/base"},
                    {"train-file", "data/train.jsonl"},
                    {"dev-file", "data/dev.jsonl"},
                    {"label-field", ""},
                    {"epochs", "2"}},
          .versions = {{"torch", "2.9"}}};
}

TEST(ModelCard, HoldsWhatTheHubReads) {
  EXPECT_EQ(
      model_card(made_results(), {.name = "mnli_1", .base_model = "org/base", .license = "mit"}),
      R"(---
license: mit
base_model: "org/base"
library_name: transformers
pipeline_tag: text-classification
metrics:
- "accuracy"
- "f1"
model-index:
- name: "mnli_1"
  results:
  - task:
      type: text-classification
    dataset:
      name: "dev.jsonl"
      type: "dev.jsonl"
      split: dev
    metrics:
    - type: "accuracy"
      value: 0.875
    - type: "f1"
      name: "Macro F1"
      value: 0.873016
    - type: "loss"
      value: 0.25
---

# mnli\_1

A classifier of texts, fine-tuned from org/base on data/train.jsonl with seqtrain.

## Labels

0. no
1. yes

## Results on the dev file

| | |
|---|---|
| examples | 8 |
| accuracy | 0.875 |
| f1 (macro average) | 0.873016 |
| loss | 0.25 |

## Hyperparameters

| | |
|---|---|
| model | org/base |
| train-file | data/train.jsonl |
| dev-file | data/dev.jsonl |
| epochs | 2 |

## Versions

| | |
|---|---|
| torch | 2.9 |
)");
}

TEST(ModelCard, NamesTheDataSet) {
  auto results = made_results();
  results.flags = {{"dataset", "nyu-mll/glue:sst2@v1"},
                   {"train-file", ""},
                   {"dev-split", "validation"},
                   {"test-split", "test"}};
  results.test = results.dev;
  const auto card = model_card(results, {.name = "run",
                                         .dataset = CardDataset{.id = "nyu-mll/glue",
                                                                .config = "sst2",
                                                                .revision = "0123",
                                                                .dev_split = "validation",
                                                                .test_split = "test"}});
  EXPECT_NE(card.find("\ndatasets:\n- \"nyu-mll/glue\"\n"), card.npos) << card;
  for (const std::string split : {"validation", "test"}) {
    EXPECT_NE(card.find("    dataset:\n      name: \"nyu-mll/glue\"\n      type: \"nyu-mll/glue\"\n"
                        "      config: \"sst2\"\n      split: \"" +
                        split + "\"\n      revision: \"0123\"\n    metrics:\n"),
              card.npos)
        << card;
  }
  EXPECT_NE(card.find("on nyu-mll/glue:sst2@v1 with seqtrain"), card.npos) << card;
}

TEST(ModelCard, SaysThatTheDevFiguresAreTheBestOfSeveral) {
  auto results = made_results();
  EXPECT_EQ(model_card(results, {}).find("trials"), std::string::npos);
  results.tuned_trials = 8;
  EXPECT_NE(
      model_card(results, {}).find("\n\nThe values of this run are the best of 8 trials on dev"),
      std::string::npos);
}

TEST(ModelCard, LeavesOutATestSetThatIsTheDevSet) {
  const auto has_test = [](train::Pairs flags) {
    auto results = made_results();
    results.test = results.dev;
    results.flags = std::move(flags);
    const auto card = model_card(results, {.name = "run"});
    EXPECT_NE(card.find("## Results on the dev file"), card.npos) << card;
    const bool in_index = card.find("split: test\n") != card.npos;
    EXPECT_EQ(in_index, card.find("## Results on the test file") != card.npos) << card;
    return in_index;
  };
  EXPECT_TRUE(has_test({}));
  EXPECT_TRUE(has_test({{"dev-file", "a"}, {"test-file", ""}}));
  EXPECT_FALSE(has_test({{"dev-file", "a"}, {"test-file", "a"}}));
  EXPECT_TRUE(has_test({{"dev-file", "a"}, {"test-file", "b"}, {"dev-fraction", "0"}}));
  EXPECT_TRUE(has_test({{"dev-file", "a"}, {"test-file", ""}, {"dev-fraction", "0.1"}}));
  EXPECT_TRUE(has_test({{"dev-file", "a"}, {"test-file", "a"}, {"dev-fraction", "0.1"}}));
  EXPECT_FALSE(has_test({{"dataset", "d"}, {"dev-split", "test"}, {"test-split", "test"}}));
  EXPECT_TRUE(has_test({{"dataset", "d"}, {"dev-split", "dev"}, {"test-split", "test"}}));
}

TEST(ModelCard, NamesTheLibraryThatReadsAnAdapter) {
  const auto is_of_peft = [](const train::Pairs& flags) {
    return model_card({.flags = flags}, {.name = "run"}).find("library_name: peft\n") !=
           std::string::npos;
  };
  EXPECT_TRUE(is_of_peft({{"lora-rank", "8"}, {"merge-adapter", "false"}}));
  EXPECT_FALSE(is_of_peft({{"lora-rank", "8"}, {"merge-adapter", "true"}}));
  EXPECT_FALSE(is_of_peft({{"lora-rank", "0"}, {"merge-adapter", "false"}}));
}

TEST(ModelCard, WritesNumbersThatYamlTakesForNumbers) {
  EXPECT_EQ(detail::rounded(0.0003), "0.0003");
  EXPECT_EQ(detail::rounded(0.000001), "0.000001");
  EXPECT_EQ(detail::rounded(-2e-7), "0");
  EXPECT_EQ(detail::rounded(0.8251234567), "0.825123");
  EXPECT_EQ(detail::rounded(30), "30");
  EXPECT_EQ(detail::rounded(1.5e20), "150000000000000000000");
}

TEST(ModelCard, OfAModelScoredByItsLossIsNoClassifiers) {
  auto results = made_results();
  results.labels.clear();
  results.dev = {.problem_type = ProblemType::loss_alone, .examples = 8, .loss = 1.5};
  const auto card = model_card(results, {.name = "run", .library = "seqtrain"});
  EXPECT_NE(card.find("\npipeline_tag: feature-extraction\n"), card.npos) << card;
  EXPECT_NE(card.find("      type: feature-extraction\n"), card.npos) << card;
  EXPECT_NE(card.find("- type: \"loss\"\n      value: 1.5\n"), card.npos) << card;
  EXPECT_NE(card.find("An encoder of texts, fine-tuned from org/base"), card.npos) << card;
  for (const char* word : {"accuracy", "classif", "## Labels"}) {
    EXPECT_EQ(card.find(word), card.npos) << word;
  }
}

TEST(ModelCard, LeavesOutWhatIsNotKnown) {
  const auto card = model_card({}, {.name = "run"});
  EXPECT_TRUE(card.starts_with("---\nlibrary_name: transformers\n")) << card;
  for (const char* key : {"license", "base_model", "datasets", "metrics", "model-index", "nan"}) {
    EXPECT_EQ(card.find(key), card.npos) << key;
  }
}

TEST(ModelCard, KeepsNamesFromMeaningSomething) {
  auto results = made_results();
  results.labels = {"a\n---\n| b", "<i>"};
  results.flags = {{"dev-file", "x\": \n- y.csv"}};
  const auto card = model_card(results, {.name = "run"});
  EXPECT_NE(card.find("0. a\\\\n---\\\\n\\| b\n1. \\<i\\>\n"), card.npos) << card;
  EXPECT_NE(card.find("name: \"x\\\": \\n- y.csv\"\n"), card.npos) << card;
}

TEST(ModelCard, TakesTheLicenseOfTheBaseModel) {
  const tests::TemporaryDirectory folder;
  EXPECT_EQ(license_of(folder.path()), "");
  tests::write_file(folder / "README.md", "---\nlanguage: en\nlicense: apache-2.0\n---\n# M\n");
  EXPECT_EQ(license_of(folder.path()), "apache-2.0");
  tests::write_file(folder / "README.md", "---\nlanguage: en\n---\nlicense: mit\n");
  EXPECT_EQ(license_of(folder.path()), "");
  tests::write_file(folder / "README.md", "---\nlicense: [a: b]\n---\n");
  EXPECT_EQ(license_of(folder.path()), "");
}

}  // namespace
}  // namespace seqtrain::run
